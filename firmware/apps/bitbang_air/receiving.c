/* Frames that a peer sends as close to one another as the standard lets it. */
#include "completion.h"
#include "console.h"
#include "exit.h"
#include "fcs.h"
#include "load.h"
#include "measure.h"
#include "result.h"
#include "stopwatch.h"
#include "tally.h"

/* The peer's frames are some milliseconds apart. */
#define FRAME_LIMIT_US 200000u

static struct stopwatch watch;
static struct completion received;
static bool begun;
static uint32_t wrong_frames;

static void on_event(struct at86rf230 *chip, enum at86rf230_event event)
{
    (void)chip;
    if (event == AT86RF230_IRQ_BEGINS) {
        watch.ticks = 0;
        stopwatch_start(&watch);
    }
}

/* A driver that is slower than the air reads an overwritten frame, whose checksum is wrong then. */
static void on_frame(struct at86rf230 *chip, const uint8_t *frame, uint8_t bytes, uint8_t lqi)
{
    (void)bytes;
    (void)lqi;
    stopwatch_stop(&watch);
    if (begun) {
        tally_frame(watch.ticks);
        wrong_frames += check_sequence(frame, chip->length) != 0;
    } else {
        /* The first frame only shows where the second begins. */
        tally_begin();
        begun = true;
    }
    complete(&received);
}

int measure_receiving(struct at86rf230 *chip)
{
    completion_init(&received);
    chip->watch = on_event;
    chip->receive = on_frame;
    load_start();
    int error = at86rf230_start(chip);
    if (error) {
        return fail("start", error);
    }
    for (uint32_t left = APP_FRAMES + 1; left; left--) {
        if (!wait_for_completion_timeout(&received, FRAME_LIMIT_US)) {
            console_print("no frame for %u us: %u received\n", FRAME_LIMIT_US, APP_FRAMES + 1 - left);
            return EXIT_FAILED;
        }
    }
    /* Frames that come while results are printed do not count. */
    chip->watch = 0;
    chip->receive = 0;
    error = at86rf230_stop(chip);
    if (error) {
        return fail("stop", error);
    }
    tally_print();
    result_number("air_wrong_frames", "frames", wrong_frames);
    return EXIT_OK;
}
