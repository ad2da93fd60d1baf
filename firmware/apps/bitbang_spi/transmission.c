/* Costs of frames that the program sends: at86rf230_xmit without the time that it sleeps, and the interrupt's service
 * in the driver's thread. */
#include "clock.h"
#include "exit.h"
#include "load.h"
#include "operations.h"
#include "report.h"
#include "stopwatch.h"
#include "timer.h"

/* RX_SYN (data sheet, Register Reference): no preamble is detected. The peer's frames would only come between ours. */
#define RX_SYN 0x15
#define RX_PDT_DIS 0x80

#define FRAME_BYTE 0x33

static struct stopwatch sending; /* the sender's thread */
static struct stopwatch serving; /* the driver's */
static uint8_t frame[AT86RF230_FRAME_BYTES];

static void on_event(struct at86rf230 *chip, enum at86rf230_event event)
{
    (void)chip;
    switch (event) {
    case AT86RF230_IRQ_BEGINS: stopwatch_start(&serving); break;
    case AT86RF230_IRQ_ENDS: stopwatch_stop(&serving); break;
    case AT86RF230_TX_WAITS: stopwatch_stop(&sending); break;
    case AT86RF230_TX_DONE: stopwatch_start(&sending); break;
    case AT86RF230_IRQ_RAISED: break;
    }
}

static int send(struct at86rf230 *chip, uint8_t bytes)
{
    sending.ticks = 0;
    serving.ticks = 0;
    stopwatch_start(&sending);
    int error = at86rf230_xmit(chip, frame, bytes);
    stopwatch_stop(&sending);
    return error;
}

static void sleep_until(uint64_t due)
{
    while (clock_ticks() < due) {
        thread_set_state(THREAD_SLEEPING);
        schedule_timeout(due);
    }
}

/* The report's, one after the other, unless one is wanted. */
static uint8_t length_of(uint32_t number)
{
    static const uint8_t lengths[] = {1, 120, 125};

    return APP_FRAME_BYTES ? APP_FRAME_BYTES : lengths[number % sizeof lengths];
}

/* One frame each period, or as soon as the one before is sent. */
static int send_all(struct at86rf230 *chip)
{
    int error = send(chip, length_of(0));

    report_begin(chip);
    uint64_t due = clock_ticks();
    for (uint32_t number = 0; number < APP_FRAMES && !error; number++) {
        uint64_t now = clock_ticks();
        due = (now > due ? now : due) + PERIOD_TICKS;
        error = send(chip, length_of(number));
        sleep_until(due);
        report_frame(chip, length_of(number), sending.ticks + serving.ticks);
    }
    return error;
}

int measure_transmission(struct at86rf230 *chip)
{
    for (uint32_t i = 0; i < sizeof frame; i++) {
        frame[i] = FRAME_BYTE;
    }
    chip->watch = on_event;
    load_start();
    int error = at86rf230_write_register(chip, RX_SYN, RX_PDT_DIS);
    if (!error) {
        error = at86rf230_start(chip);
    }
    if (!error) {
        error = send_all(chip);
    }
    if (error) {
        return fail("xmit", error);
    }
    report_print("transmission_cost");
    return EXIT_OK;
}
