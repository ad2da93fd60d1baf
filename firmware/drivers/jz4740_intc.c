#include "jz4740_intc.h"

#include "board.h"
#include "mmio.h"

#define INTC_ICMSR 0x08u
#define INTC_ICMCR 0x0Cu
#define INTC_ICPR 0x10u

void intc_start(void)
{
    mmio_write(BOARD_INTC_BASE, INTC_ICMSR, UINT32_MAX);
}

void intc_mask(uint32_t source)
{
    mmio_write(BOARD_INTC_BASE, INTC_ICMSR, 1u << source);
}

void intc_unmask(uint32_t source)
{
    mmio_write(BOARD_INTC_BASE, INTC_ICMCR, 1u << source);
}

uint32_t intc_pending(void)
{
    return mmio_read(BOARD_INTC_BASE, INTC_ICPR);
}
