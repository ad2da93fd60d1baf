/* Performance counter core (Embedded Peripherals IP User Guide), under the names that programs for Nios use: clocks
   spent in sections 1 to 7 of a program. `base` is the core's address, a number or a pointer. */
#ifndef ALTERA_PERFORMANCE_COUNTER_H
#define ALTERA_PERFORMANCE_COUNTER_H

#include "mmio.h"

#include <stdint.h>

#define PERF_SECTION_STRIDE 0x10u
#define PERF_TIME_LOW 0x0u  /* written: stop */
#define PERF_TIME_HIGH 0x4u /* written: start */
#define PERF_EVENTS 0x8u
#define PERF_TIME_LOW_RESET 1u /* section 0 only */

#define PERF_BEGIN(base, section) \
    mmio_write((uintptr_t)(base), PERF_SECTION_STRIDE * (uint32_t)(section) + PERF_TIME_HIGH, 0)
#define PERF_END(base, section) \
    mmio_write((uintptr_t)(base), PERF_SECTION_STRIDE * (uint32_t)(section) + PERF_TIME_LOW, 0)

/* Zeroes and stops all sections. */
#define PERF_RESET(base) mmio_write((uintptr_t)(base), PERF_TIME_LOW, PERF_TIME_LOW_RESET)
/* Section 0 is the global one: the others count while it runs. */
#define PERF_START_MEASURING(base) PERF_BEGIN(base, 0)
#define PERF_STOP_MEASURING(base) PERF_END(base, 0)

/* Clocks while measuring; stops measuring. */
uint64_t perf_get_total_time(void *base);

/* Clocks in a section; stops measuring. */
uint64_t perf_get_section_time(void *base, int section);

/* How often a section was begun. */
uint32_t perf_get_num_starts(void *base, int section);

/* Stops measuring and prints a table of sections 1 to `sections`: share of the total in percent, seconds, clocks at
   `clock_hz`, and how often each was begun. Each section's name (const char *) follows. Returns 0. */
int perf_print_formatted_report(void *base, uint32_t clock_hz, int sections, ...);

#endif
