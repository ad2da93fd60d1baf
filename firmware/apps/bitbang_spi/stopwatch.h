/* Times by the timer unit, in its ticks of 83.3 ns. */
#ifndef STOPWATCH_H
#define STOPWATCH_H

#include <stdint.h>

/* A sum of short times, each below 5.4 ms. */
struct stopwatch {
    uint64_t ticks;
    uint16_t started;
};

void stopwatch_start(struct stopwatch *watch);
void stopwatch_stop(struct stopwatch *watch);

/* `ticks` divided by `count`, in nanoseconds, rounded. */
uint64_t nanoseconds_each(uint64_t ticks, uint32_t count);

#endif
