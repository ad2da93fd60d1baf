/* Periodic Interval Timer (SAMA5D2 data sheet, chapter Periodic Interval Timer): a kernel's tick. */
#ifndef ATMEL_PIT_H
#define ATMEL_PIT_H

#include <stdint.h>

/* Interrupts `hz` times a second, rounded to whole clocks of the timer, from now on. */
void pit_start(uint32_t hz);

/* Lets no more interrupts come. */
void pit_stop(void);

/* To be called by the interrupt's handler. */
void pit_acknowledge(void);

#endif
