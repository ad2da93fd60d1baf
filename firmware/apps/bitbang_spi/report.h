/* What both directions tell about their frames. */
#ifndef REPORT_H
#define REPORT_H

#include "at86rf230.h"

/* Of a number of frames of one length. */
struct frame_costs {
    uint32_t frames;
    uint64_t cost_ticks;            /* the driver's work */
    struct at86rf230_counts counts; /* of accesses */
};

/* From one frame to another: what the processor did, and for how long. */
struct period {
    uint32_t frames;
    uint64_t ticks;
    uint64_t busy_ticks;
};

/* Prints cost a frame and accesses of all frames; `metric` is the cost's name. */
void report_costs(const char *metric, uint8_t frame_bytes, const struct frame_costs *costs);

/* Prints time a frame, the load in hundredths of a percent by the cost alone if frames came every APP_PERIOD_US, and by all that was done. */
void report_load(uint8_t frame_bytes, const struct frame_costs *costs, const struct period *period);

/* Adds what was counted since `before`. */
void add_counts(struct at86rf230_counts *sum, const struct at86rf230_counts *before, const struct at86rf230_counts *now);

#endif
