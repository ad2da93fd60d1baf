/* Costs of frames that the program sends: at86rf230_xmit without the time that it sleeps, and the interrupt's service in the driver's thread. */
#include "board.h"
#include "clock.h"
#include "exit.h"
#include "load.h"
#include "operations.h"
#include "report.h"
#include "stopwatch.h"
#include "timer.h"

#define FRAME_BYTE 0x33
#define PERIOD_TICKS ((uint64_t)APP_PERIOD_US * (BOARD_EXTAL_HZ / 1000000u))

static struct stopwatch sending; /* the sender's thread */
static struct stopwatch serving; /* the driver's */

static void on_event(struct at86rf230 *chip, enum at86rf230_event event)
{
    (void)chip;
    switch (event) {
    case AT86RF230_IRQ_BEGINS: stopwatch_start(&serving); break;
    case AT86RF230_IRQ_ENDS: stopwatch_stop(&serving); break;
    case AT86RF230_TX_WAITS: stopwatch_stop(&sending); break;
    case AT86RF230_TX_DONE: stopwatch_start(&sending); break;
    }
}

static int send(struct at86rf230 *chip, uint8_t bytes)
{
    static uint8_t frame[AT86RF230_FRAME_BYTES];

    for (uint32_t i = 0; i < bytes; i++) {
        frame[i] = FRAME_BYTE;
    }
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

/* One frame each period, or as soon as the one before is sent. */
static int measure(struct at86rf230 *chip, uint8_t bytes)
{
    int error = send(chip, bytes);
    struct at86rf230_counts counts = chip->counts;
    struct frame_costs costs = {.frames = APP_FRAMES};

    sending.ticks = 0;
    serving.ticks = 0;
    uint64_t start = clock_ticks();
    uint64_t busy_start = load_busy_ticks();
    uint64_t due = start;
    for (uint32_t frames = APP_FRAMES; frames && !error; frames--) {
        error = send(chip, bytes);
        due += PERIOD_TICKS;
        sleep_until(due);
    }
    struct period period = {APP_FRAMES, clock_ticks() - start, load_busy_ticks() - busy_start};
    if (error) {
        return fail("xmit", error);
    }
    costs.cost_ticks = sending.ticks + serving.ticks;
    add_counts(&costs.counts, &counts, &chip->counts);
    report_costs("transmission_cost", bytes, &costs);
    report_load(bytes, &costs, &period);
    return EXIT_OK;
}

int measure_transmission(struct at86rf230 *chip)
{
    static const uint8_t lengths[] = {1, 120, 125};

    chip->watch = on_event;
    load_start();
    int error = at86rf230_start(chip);
    if (error) {
        return fail("start", error);
    }
    if (APP_FRAME_BYTES) {
        return measure(chip, APP_FRAME_BYTES);
    }
    int status = EXIT_OK;
    for (uint32_t i = 0; i < sizeof lengths && status == EXIT_OK; i++) {
        status = measure(chip, lengths[i]);
    }
    return status;
}
