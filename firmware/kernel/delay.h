/* Waiting: by a loop whose speed was measured once, or asleep. */
#ifndef DELAY_H
#define DELAY_H

#include <stdint.h>

/* Measures the loop against the clock; kernel_start does. About a millisecond. */
void delay_calibrate(void);

/* Busy for at least this time; longer by the call, and by interrupts. */
void ndelay(uint32_t nanoseconds);
void udelay(uint32_t microseconds);

/* Sleeps for at least this time. For threads. */
void msleep(uint32_t milliseconds);

#endif
