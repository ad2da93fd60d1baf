/* Time of the machine timer (CLINT: mtime, mtimecmp). The JZ4740's has its first two functions, in ticks of EXTAL
 * (drivers/jz4740_tcu.h); an Arm core's generic timer has all (drivers/arm_generic_timer.h). */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

/* Ticks of mtime, BOARD_MTIME_HZ a second, or of the generic timer, BOARD_TIMER_HZ a second. */
uint64_t clock_ticks(void);

/* Whole microseconds, rounded up to ticks. */
uint64_t clock_ticks_of_us(uint64_t microseconds);

/* The timer's interrupt gets pending when its count reaches `ticks`. */
void clock_set_alarm(uint64_t ticks);

/* No alarm: far beyond any run. */
void clock_clear_alarm(void);

/* Sleeps (wfi) for at least `microseconds`. Uses the alarm; interrupts other than the timer's are served after. */
void clock_sleep_us(uint32_t microseconds);

#endif
