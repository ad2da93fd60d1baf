/* Costs of frames that a peer sends: from the moment at which the driver's thread begins to serve the interrupt until the frame is handed over. */
#include "clock.h"
#include "completion.h"
#include "console.h"
#include "exit.h"
#include "load.h"
#include "operations.h"
#include "report.h"
#include "stopwatch.h"

#define LENGTHS (AT86RF230_FRAME_BYTES + 1)
/* The peer's pauses are of some milliseconds. */
#define FRAME_LIMIT_US 200000u

static struct frame_costs costs[LENGTHS];
static struct period period;
static struct stopwatch watch;
static struct completion received;

/* At the frame before. */
static struct {
    bool known;
    uint64_t ticks;
    uint64_t busy_ticks;
    struct at86rf230_counts counts;
} before;

static uint8_t last_length;

static void on_event(struct at86rf230 *chip, enum at86rf230_event event)
{
    (void)chip;
    if (event == AT86RF230_IRQ_BEGINS) {
        stopwatch_start(&watch);
    }
}

/* The first frame only tells where the second begins. */
static void on_frame(struct at86rf230 *chip, const uint8_t *frame, uint8_t bytes, uint8_t lqi)
{
    (void)frame;
    (void)bytes;
    (void)lqi;
    watch.ticks = 0;
    stopwatch_stop(&watch);
    uint64_t now = clock_ticks();
    uint64_t busy_ticks = load_busy_ticks();

    if (before.known) {
        struct frame_costs *of_length = &costs[chip->length];
        of_length->frames++;
        of_length->cost_ticks += watch.ticks;
        add_counts(&of_length->counts, &before.counts, &chip->counts);
        period.frames++;
        period.ticks += now - before.ticks;
        period.busy_ticks += busy_ticks - before.busy_ticks;
    }
    before.known = true;
    before.ticks = now;
    before.busy_ticks = busy_ticks;
    before.counts = chip->counts;
    last_length = chip->length;
    complete(&received);
}

static struct frame_costs all_costs(void)
{
    struct frame_costs all = {0};

    for (uint32_t length = 0; length < LENGTHS; length++) {
        all.frames += costs[length].frames;
        all.cost_ticks += costs[length].cost_ticks;
    }
    return all;
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
    for (uint32_t frames = APP_FRAMES + 1; frames; frames--) {
        if (!wait_for_completion_timeout(&received, FRAME_LIMIT_US)) {
            console_print("no frame for %u us: %u received\n", FRAME_LIMIT_US, APP_FRAMES + 1 - frames);
            return EXIT_FAILED;
        }
    }
    /* The thread prints, and must not be interrupted by frames. */
    chip->watch = 0;
    chip->receive = 0;
    error = at86rf230_stop(chip);
    if (error) {
        return fail("stop", error);
    }
    for (uint32_t length = 0; length < LENGTHS; length++) {
        if (costs[length].frames) {
            report_costs("reception_cost", (uint8_t)length, &costs[length]);
        }
    }
    struct frame_costs all = all_costs();
    report_load(last_length, &all, &period);
    return EXIT_OK;
}
