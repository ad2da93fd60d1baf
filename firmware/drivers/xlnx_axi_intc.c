#include "xlnx_axi_intc.h"

#include "mmio.h"

#define AXI_INTC_IPR 0x04u
#define AXI_INTC_IER 0x08u
#define AXI_INTC_IAR 0x0Cu
#define AXI_INTC_SIE 0x10u
#define AXI_INTC_CIE 0x14u
#define AXI_INTC_IVR 0x18u
#define AXI_INTC_MER 0x1Cu

#define AXI_INTC_MER_ME (1u << 0)
#define AXI_INTC_MER_HIE (1u << 1) /* hardware interrupts; stays set until reset */

#define AXI_INTC_INPUTS 32u

static struct {
    xlnx_axi_intc_handler *handler;
    void *context;
} served[AXI_INTC_INPUTS];

void xlnx_axi_intc_init(uintptr_t base)
{
    mmio_write(base, AXI_INTC_IER, 0);
    mmio_write(base, AXI_INTC_IAR, UINT32_MAX);
    mmio_write(base, AXI_INTC_MER, AXI_INTC_MER_ME | AXI_INTC_MER_HIE);
}

void xlnx_axi_intc_enable(uintptr_t base, uint32_t input)
{
    mmio_write(base, AXI_INTC_SIE, 1u << input);
}

void xlnx_axi_intc_disable(uintptr_t base, uint32_t input)
{
    mmio_write(base, AXI_INTC_CIE, 1u << input);
}

uint32_t xlnx_axi_intc_pending(uintptr_t base)
{
    return mmio_read(base, AXI_INTC_IPR);
}

void xlnx_axi_intc_acknowledge(uintptr_t base, uint32_t input)
{
    mmio_write(base, AXI_INTC_IAR, 1u << input);
}

void xlnx_axi_intc_connect(uintptr_t base, uint32_t input, xlnx_axi_intc_handler *handler, void *context)
{
    served[input].handler = handler;
    served[input].context = context;
    xlnx_axi_intc_enable(base, input);
}

void xlnx_axi_intc_serve(uintptr_t base)
{
    /* All ones if nothing waits. */
    uint32_t input = mmio_read(base, AXI_INTC_IVR);

    if (input < AXI_INTC_INPUTS && served[input].handler) {
        served[input].handler(served[input].context);
        xlnx_axi_intc_acknowledge(base, input);
    }
}
