/* Time of the machine timer (CLINT: mtime, mtimecmp). The JZ4740's has its first two functions, in ticks of EXTAL (drivers/jz4740_tcu.h). */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

/* Ticks of mtime, BOARD_MTIME_HZ a second, since reset. */
uint64_t clock_ticks(void);

/* Whole microseconds, rounded up to ticks. */
uint64_t clock_ticks_of_us(uint64_t microseconds);

/* The machine timer interrupt gets pending when mtime reaches `ticks`. */
void clock_set_alarm(uint64_t ticks);

/* No alarm: far beyond any run. */
void clock_clear_alarm(void);

/* Sleeps (wfi) for at least `microseconds`. Uses the alarm; interrupts other than the timer's are served after. */
void clock_sleep_us(uint32_t microseconds);

#endif
