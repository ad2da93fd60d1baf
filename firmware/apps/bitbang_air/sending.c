/* Frames that the program sends: one as soon as the one before is through. */
#include "clock.h"
#include "exit.h"
#include "load.h"
#include "measure.h"
#include "result.h"
#include "stopwatch.h"
#include "tally.h"

#define FRAME_BYTE 0x33
#define LOW(word) ((word) & 0xFF)
#define HIGH(word) ((word) >> 8)

static struct stopwatch sending; /* the sender's thread */
static struct stopwatch serving; /* the driver's */
static uint64_t started_ticks, air_ticks;
static uint32_t lost;
static uint8_t frame[AT86RF230_FRAME_BYTES];

static void on_event(struct at86rf230 *chip, enum at86rf230_event event)
{
    (void)chip;
    switch (event) {
    case AT86RF230_IRQ_RAISED: air_ticks = clock_ticks() - started_ticks; break;
    case AT86RF230_IRQ_BEGINS: stopwatch_start(&serving); break;
    case AT86RF230_IRQ_ENDS: stopwatch_stop(&serving); break;
    case AT86RF230_TX_WAITS:
        stopwatch_stop(&sending);
        started_ticks = clock_ticks();
        break;
    case AT86RF230_TX_DONE: stopwatch_start(&sending); break;
    }
}

/* A data frame to the peer, which asks for an acknowledgement (IEEE 802.15.4-2006, 7.2.2.2). */
static void make_frame(void)
{
    static const uint8_t header[] = {
        0x61, 0x88, 0, LOW(PAN), HIGH(PAN), LOW(PEER_ADDRESS), HIGH(PEER_ADDRESS), LOW(OWN_ADDRESS), HIGH(OWN_ADDRESS),
    };

    for (uint32_t i = 0; i < sizeof frame; i++) {
        frame[i] = i < sizeof header ? header[i] : FRAME_BYTE;
    }
}

static int send(struct at86rf230 *chip)
{
    sending.ticks = 0;
    serving.ticks = 0;
    stopwatch_start(&sending);
    int error = at86rf230_xmit(chip, frame, APP_FRAME_BYTES);
    stopwatch_stop(&sending);
    frame[2]++;
    return error;
}

static int send_all(struct at86rf230 *chip)
{
    int error = send(chip);

    tally_begin();
    for (uint32_t number = 0; number < APP_FRAMES && !error; number++) {
        error = send(chip);
        tally_air(air_ticks);
        tally_frame(sending.ticks + serving.ticks);
#if APP_MODE_EXTENDED
        lost += chip->trac != 0;
#endif
    }
    return error;
}

int measure_sending(struct at86rf230 *chip)
{
    make_frame();
    chip->watch = on_event;
    load_start();
    int error = at86rf230_start(chip);
    if (!error) {
        error = send_all(chip);
    }
    if (error) {
        return fail("send", error);
    }
    tally_print();
    result_number("air_lost_frames", "frames", lost);
    return EXIT_OK;
}
