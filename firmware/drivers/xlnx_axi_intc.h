/* AXI Interrupt Controller (PG099 v4.1, register space), level inputs, no vectors. */
#ifndef XLNX_AXI_INTC_H
#define XLNX_AXI_INTC_H

#include <stdint.h>

/* Starts with all inputs disabled and the output to the processor enabled. */
void xlnx_axi_intc_init(uintptr_t base);

void xlnx_axi_intc_enable(uintptr_t base, uint32_t input);
void xlnx_axi_intc_disable(uintptr_t base, uint32_t input);

/* Enabled inputs that wait for service, one bit each. */
uint32_t xlnx_axi_intc_pending(uintptr_t base);

/* Has to make the device take its request back. */
typedef void xlnx_axi_intc_handler(void *context);

/* Enables an input that `handler` serves from now on. */
void xlnx_axi_intc_connect(uintptr_t base, uint32_t input, xlnx_axi_intc_handler *handler, void *context);

/* Serves the connected input of the highest priority that waits, and acknowledges it: to be called for the interrupt
   of the controller, which comes again for the next one. */
void xlnx_axi_intc_serve(uintptr_t base);

/* After the device has taken its request back. */
void xlnx_axi_intc_acknowledge(uintptr_t base, uint32_t input);

#endif
