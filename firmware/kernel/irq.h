/* Interrupts, by numbers that go through all controllers of the board: 0 to 31 are the INTC's, followed by the
 * pins of the GPIO ports (irq_of_pin). */
#ifndef IRQ_H
#define IRQ_H

#include <stdint.h>

#define IRQ_INTC_COUNT 32u
#define IRQ_GPIO_BASE IRQ_INTC_COUNT
#define IRQ_COUNT (IRQ_GPIO_BASE + 4u * 32u)

/* Called with interrupts kept out; the interrupt is masked meanwhile. Must not sleep. */
typedef void irq_handler(void *arg);

enum irq_trigger { IRQ_LEVEL_HIGH, IRQ_LEVEL_LOW, IRQ_EDGE_RISING, IRQ_EDGE_FALLING };

/* The interrupt of a pin: port 0 to 3 (A to D), pin 0 to 31. */
static inline uint32_t irq_of_pin(uint32_t port, uint32_t pin)
{
    return IRQ_GPIO_BASE + port * 32u + pin;
}

/* Masks everything; kernel_start does. */
void irq_start(void);

/* `handler` gets an interrupt, which is enabled. Returns 0, or ERROR_BUSY if it has a handler. */
int request_irq(uint32_t irq, irq_handler *handler, void *arg);

/* Takes the handler away and disables the interrupt. */
void free_irq(uint32_t irq);

/* Sets the type of a pin's interrupt before it is requested: the pin becomes an interrupt input. */
void irq_set_trigger(uint32_t irq, enum irq_trigger trigger);

/* These nest: an interrupt is enabled after as many enable_irq as disable_irq. A handler may disable its own. */
void disable_irq(uint32_t irq);
void enable_irq(uint32_t irq);

/* For vectors.S: serves the interrupt of the highest number that is pending. */
void irq_handle(void);

#endif
