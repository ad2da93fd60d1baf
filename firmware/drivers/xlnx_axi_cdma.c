#include "xlnx_axi_cdma.h"

#include "error.h"
#include "mmio.h"
#include "riscv.h"
#include "xlnx_transfer.h"

#define AXI_CDMA_CR 0x00u
#define AXI_CDMA_SR 0x04u
#define AXI_CDMA_SA 0x18u
#define AXI_CDMA_DA 0x20u
#define AXI_CDMA_BTT 0x28u

#define AXI_CDMA_CR_RESET (1u << 2)

#define AXI_CDMA_SR_IDLE (1u << 1)
#define AXI_CDMA_SR_INT_ERR (1u << 4)
#define AXI_CDMA_SR_SLV_ERR (1u << 5)
#define AXI_CDMA_SR_DEC_ERR (1u << 6)
#define AXI_CDMA_SR_ERRORS (AXI_CDMA_SR_INT_ERR | AXI_CDMA_SR_SLV_ERR | AXI_CDMA_SR_DEC_ERR)
/* Of both registers: complete, error. */
#define AXI_CDMA_INTERRUPTS (1u << 12 | 1u << 14)

#if APP_COMPLETION_INTERRUPTS
#define AXI_CDMA_CR_INTERRUPTS AXI_CDMA_INTERRUPTS

void xlnx_axi_cdma_interrupt(void *context)
{
    const struct xlnx_axi_cdma *dma = context;

    mmio_write(dma->base, AXI_CDMA_SR, AXI_CDMA_INTERRUPTS);
    transfer_interrupted();
}
#else
#define AXI_CDMA_CR_INTERRUPTS 0u
#endif

int xlnx_axi_cdma_init(struct xlnx_axi_cdma *dma, uintptr_t base, enum xlnx_axi_cdma_keyhole keyhole)
{
    dma->base = base;
    mmio_write(base, AXI_CDMA_CR, AXI_CDMA_CR_RESET);
    for (uint32_t polls = 0; mmio_read(base, AXI_CDMA_CR) & AXI_CDMA_CR_RESET; polls++) {
        if (polls == TRANSFER_LIMIT_LOOKS) {
            return ERROR_TIMEOUT;
        }
    }
    mmio_write(base, AXI_CDMA_CR, (uint32_t)keyhole | AXI_CDMA_CR_INTERRUPTS);
    return 0;
}

void xlnx_axi_cdma_set_addresses(const struct xlnx_axi_cdma *dma, uintptr_t source, uintptr_t destination)
{
    mmio_write(dma->base, AXI_CDMA_SA, source);
    mmio_write(dma->base, AXI_CDMA_DA, destination);
}

void xlnx_axi_cdma_start(const struct xlnx_axi_cdma *dma, uint32_t bytes)
{
    /* The processor's stores must reach memory before the engine reads it. */
    riscv_fence();
    mmio_write(dma->base, AXI_CDMA_BTT, bytes);
}

int xlnx_axi_cdma_poll(const struct xlnx_axi_cdma *dma)
{
    uint32_t status = mmio_read(dma->base, AXI_CDMA_SR);

    if (status & AXI_CDMA_SR_ERRORS) {
        return ERROR_DMA;
    }
    return (status & AXI_CDMA_SR_IDLE) != 0;
}

int xlnx_axi_cdma_wait(const struct xlnx_axi_cdma *dma)
{
    for (uint32_t polls = 0; polls < TRANSFER_LIMIT_LOOKS; polls++) {
        transfer_look();
        int idle = xlnx_axi_cdma_poll(dma);
        if (idle) {
            return idle < 0 ? idle : 0;
        }
        transfer_wait();
    }
    return ERROR_TIMEOUT;
}
