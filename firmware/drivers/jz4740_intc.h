/* Interrupt controller of the JZ4740 (programming manual, chapter Interrupt Controller): sources 0 to 31, for irq.c. */
#ifndef JZ4740_INTC_H
#define JZ4740_INTC_H

#include <stdint.h>

/* Masks all sources. */
void intc_start(void);

void intc_mask(uint32_t source);
void intc_unmask(uint32_t source);

/* The sources that ask for service and are not masked, a bit each. */
uint32_t intc_pending(void);

#endif
