/* Advanced Interrupt Controller of the SAMA5D2 (data sheet, chapter Advanced Interrupt Controller). */
#ifndef ATMEL_AIC_H
#define ATMEL_AIC_H

#include <stdint.h>

/* The controller's registers, for those who serve interrupts. */
#define AIC_IVR 0x10u
#define AIC_EOICR 0x38u

/* Called for an interrupt; on its return the controller gets the end of interrupt. */
typedef void aic_handler(void);

enum aic_trigger { AIC_LEVEL, AIC_EDGE };

/* All sources off, and all, those of secure peripherals too, sent to this controller; an unexpected interrupt goes to
 * a handler that does nothing. */
void aic_start(void);

/* `handler` gets the interrupts of a source from now on. Priorities are 0 to 7, 7 is the highest. */
void aic_enable(uint32_t source, uint32_t priority, enum aic_trigger trigger, aic_handler *handler);

/* Makes the interrupt of an edge-triggered source pending. */
void aic_set_pending(uint32_t source);

#endif
