/* What runs, on pins for a logic analyser: PD24 is low while something is measured, PD25 to PD27 are high while the
 * first, second or third task runs that measure_create made, PD28 while the interrupt's handler does. */
#ifndef PINS_H
#define PINS_H

#include <stdbool.h>
#include <stdint.h>

/* The timer's functions, with the first pin. */
void pins_configure(uint32_t timer);
void pins_start(uint32_t timer);
uint32_t pins_ticks(uint32_t timer);

void pins_handler(bool runs);

/* By the kernel, at each switch. */
void pins_task(const void *task, bool runs);

#endif
