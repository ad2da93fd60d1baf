/* Ticks of a clock as time, and back. Where a microsecond has a whole number of ticks, nothing is multiplied that need
 * not be: both forms are constants but for the count. Up to 18e12 ticks. */
#ifndef TICKS_H
#define TICKS_H

#include <stdint.h>

/* Ticks of `hz` a second in `us` microseconds, rounded up. */
#define TICKS_OF_US(us, hz) \
    ((hz) % 1000000u ? ((uint64_t)(us) * (hz) + 999999u) / 1000000u : (us) * ((hz) / 1000000u))

/* Whole microseconds in `ticks` ticks of `hz` a second. */
#define US_OF_TICKS(ticks, hz) \
    ((hz) % 1000000u ? (uint64_t)(ticks) * 1000000u / (hz) : (ticks) / ((hz) / 1000000u))

#endif
