/* The results of both directions for their frames, length by length. */
#ifndef REPORT_H
#define REPORT_H

#include "at86rf230.h"
#include "board.h"
#include "ticks.h"

/* The total time for the load, in ticks of the clock. */
#define PERIOD_TICKS TICKS_OF_US((uint64_t)APP_PERIOD_US, BOARD_EXTAL_HZ)

/* Of all frames of one length. */
struct frame_costs {
    uint32_t frames;
    uint64_t cost_ticks;            /* the driver's work */
    struct at86rf230_counts counts; /* of accesses */
    uint64_t period_ticks;          /* from one frame to the next */
    uint64_t busy_ticks;            /* what the processor was busy of that, with whatever */
};

/* The frame in hand: from the call of report_begin on. */
void report_begin(const struct at86rf230 *chip);

/* A frame of `frame_bytes` has taken the driver `cost_ticks`; the next one begins. */
void report_frame(const struct at86rf230 *chip, uint8_t frame_bytes, uint64_t cost_ticks);

/* Prints all. `metric` is the cost's name. The load is what the longest frames would take of the processor if one came
 * every APP_PERIOD_US. */
void report_print(const char *metric);

#endif
