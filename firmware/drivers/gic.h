/* Generic Interrupt Controller, architecture version 2 (Arm IHI 0048B), as its GIC-400 has it: interrupts of one core,
 * in group 0. */
#ifndef GIC_H
#define GIC_H

#include <stdint.h>

/* Interrupt numbers: 16 private ones of each core from 16 on, shared ones (SPI) from 32 on. */
#define GIC_PPI(number) (16u + (number))
#define GIC_SPI(number) (32u + (number))

/* Numbers that gic_enable takes: those of an STM32MP157. */
#define GIC_INTERRUPTS 288u

/* Called for an interrupt, with interrupts off; on its return the controller gets the end of interrupt. */
typedef void gic_handler(void);

/* All interrupts off, none pending, one priority for all; lets interrupts in. */
void gic_start(void);

/* `handler` gets an interrupt that is a level from now on. */
void gic_enable(uint32_t interrupt, gic_handler *handler);

void gic_disable(uint32_t interrupt);

#endif
