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

/* After the device has taken its request back. */
void xlnx_axi_intc_acknowledge(uintptr_t base, uint32_t input);

#endif
