/* The interrupt controller of an ARMv7-M core (DDI 0403E, B3.4). Handlers are entries of the vector table, by their
 * names there. */
#ifndef NVIC_H
#define NVIC_H

#include <stdint.h>

/* Priorities are 0, the highest, to 15: four bits of the eight, as STM32s have. */
#define NVIC_PRIORITY_DEFAULT 1u
#define NVIC_PRIORITY_LOWEST 15u

/* All four bits of a priority are for pre-emption, as STM32Cube's HAL_Init has it. */
void nvic_start(void);

/* Lets an external interrupt in, at a priority. */
void nvic_enable(uint32_t interrupt, uint32_t priority);

void nvic_disable(uint32_t interrupt);

#endif
