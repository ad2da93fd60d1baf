/* Interval timer core (Embedded Peripherals IP User Guide): a clock of milliseconds, and waits. */
#ifndef ALTERA_TIMER_H
#define ALTERA_TIMER_H

#include <stdint.h>

/* Milliseconds a second. */
#define TICK_HZ 1000u

/* Starts counting milliseconds from 0, by the interrupt of the timer at BOARD_TIMER_BASE: each lasts BOARD_CLOCK_HZ /
   TICK_HZ clocks, rounded down. Lets interrupts in. */
void tick_start(void);

/* Stops the timer and its interrupt; the count stays. */
void tick_stop(void);

/* Milliseconds counted; wraps after 49 days. */
uint32_t tick_ms(void);

/* Waits (wfi) until at least `milliseconds` have been counted. Counting must have been started. */
void tick_sleep_ms(uint32_t milliseconds);

#endif
