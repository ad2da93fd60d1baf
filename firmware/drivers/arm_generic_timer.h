/* The generic timer of an Arm core (ARM ARM, ARMv7-A and ARMv7-R edition, B8): runtime/clock.h by its virtual timer, as
 * Linux uses it. */
#ifndef ARM_GENERIC_TIMER_H
#define ARM_GENERIC_TIMER_H

#include <stdint.h>

/* The interrupt of the virtual timer on the cores that have a GIC, among the core's private ones. */
#define GENERIC_TIMER_PPI 11u

/* No alarm. Ends the program if the timer's frequency, which whoever came before sets, is not BOARD_TIMER_HZ. */
void generic_timer_start(void);

/* Sleeps (wfi) until the count is `ticks` or more; interrupts are served as they come. */
void clock_sleep_until(uint64_t ticks);

/* The time that `ticks` take, in nanoseconds, rounded down. */
uint64_t clock_ns_of_ticks(uint64_t ticks);

#endif
