#include "probes.h"

/* A point every 16 KiB. */
#define STEP_BLOCKS 32u
#define POINTS 128u

/* The time of a write at each point, coming from the same place each time. */
static int measure(struct sd_card *card, const struct area *area, uint64_t *clocks, uint32_t points)
{
    uint32_t away = area->first + area->blocks - 1;

    for (uint32_t i = 0; i < points; i++) {
        uint64_t ignored;
        int error = probe_busy_after(card, away, &ignored);
        if (!error) {
            error = probe_busy_after(card, area->first + i * STEP_BLOCKS, &clocks[i]);
        }
        if (error) {
            return error;
        }
    }
    return 0;
}

/* The distance of the first two falls by more than half of all that the times differ. */
static uint32_t period(const uint64_t *clocks, uint32_t points)
{
    uint64_t min = clocks[0], max = clocks[0];
    uint32_t last_fall = 0;

    for (uint32_t i = 1; i < points; i++) {
        min = clocks[i] < min ? clocks[i] : min;
        max = clocks[i] > max ? clocks[i] : max;
    }
    for (uint32_t i = 1; i < points; i++) {
        if (clocks[i - 1] > clocks[i] && clocks[i - 1] - clocks[i] > (max - min) / 2) {
            if (last_fall) {
                return i - last_fall;
            }
            last_fall = i;
        }
    }
    return 0;
}

int probe_erase_block(struct sd_card *card, const struct area *area, uint32_t *blocks)
{
    static uint64_t clocks[POINTS];
    /* Half of the area at most, so that the place that all jumps come from is far from all of them. */
    uint32_t points = area->blocks / 2 / STEP_BLOCKS < POINTS ? area->blocks / 2 / STEP_BLOCKS : POINTS;
    int error = points ? measure(card, area, clocks, points) : 0;

    *blocks = error || !points ? 0 : period(clocks, points) * STEP_BLOCKS;
    return error;
}
