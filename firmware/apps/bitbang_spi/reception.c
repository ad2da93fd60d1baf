/* Costs of frames that a peer sends: from the moment at which the driver's thread begins to serve the interrupt until
 * the frame is handed over. */
#include "completion.h"
#include "console.h"
#include "exit.h"
#include "fcs.h"
#include "load.h"
#include "operations.h"
#include "report.h"
#include "stopwatch.h"

/* The peer's pauses are of some milliseconds. */
#define FRAME_LIMIT_US 200000u

static struct stopwatch watch;
static struct completion received;
static bool begun;

static void on_event(struct at86rf230 *chip, enum at86rf230_event event)
{
    (void)chip;
    if (event == AT86RF230_IRQ_BEGINS) {
        watch.ticks = 0;
        stopwatch_start(&watch);
    }
}

static void on_frame(struct at86rf230 *chip, const uint8_t *frame, uint8_t bytes, uint8_t lqi)
{
    (void)frame;
    (void)bytes;
    (void)lqi;
    stopwatch_stop(&watch);
    if (begun) {
        report_frame(chip, chip->length, watch.ticks);
    } else {
        /* The first frame only shows where the second begins. */
        report_begin(chip);
        begun = true;
    }
    complete(&received);
}

static bool wait_for_frames(uint32_t frames)
{
    for (uint32_t left = frames; left; left--) {
        if (!wait_for_completion_timeout(&received, FRAME_LIMIT_US)) {
            console_print("no frame for %u us: %u received\n", FRAME_LIMIT_US, frames - left);
            return false;
        }
    }
    return true;
}

int measure_reception(struct at86rf230 *chip)
{
    completion_init(&received);
    chip->watch = on_event;
    chip->receive = on_frame;
    load_start();
    int error = at86rf230_start(chip);
    if (error) {
        return fail("start", error);
    }
    if (!wait_for_frames(APP_FRAMES + 1)) {
        return EXIT_FAILED;
    }
    /* Frames that come while results are printed do not count. */
    chip->watch = 0;
    chip->receive = 0;
    error = at86rf230_stop(chip);
    if (error) {
        return fail("stop", error);
    }
    report_print("reception_cost");
    /* Of the last one; the others have come the same way. */
    if (chip->length > AT86RF230_CHECKSUM_BYTES && check_sequence(chip->frame, chip->length)) {
        console_print("the check sequence of a frame of %u bytes is wrong\n", chip->length);
        return EXIT_FAILED;
    }
    return EXIT_OK;
}
