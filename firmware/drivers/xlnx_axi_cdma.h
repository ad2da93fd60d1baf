/* AXI Central DMA (PG034 v4.1), simple mode. A side that is a keyhole keeps its address: the engine then uses
   FIXED bursts of up to 16 beats there, which is how a FIFO register is read or filled. */
#ifndef XLNX_AXI_CDMA_H
#define XLNX_AXI_CDMA_H

#include <stdbool.h>
#include <stdint.h>

struct xlnx_axi_cdma {
    uintptr_t base;
};

enum xlnx_axi_cdma_keyhole {
    XLNX_AXI_CDMA_KEYHOLE_NONE = 0,
    XLNX_AXI_CDMA_KEYHOLE_READ = 1 << 4,  /* CDMACR.KeyHoleRead */
    XLNX_AXI_CDMA_KEYHOLE_WRITE = 1 << 5, /* CDMACR.KeyHoleWrite */
};

/* Resets the engine and sets its keyhole side. ERROR_TIMEOUT if the reset does not end. */
int xlnx_axi_cdma_init(struct xlnx_axi_cdma *dma, uintptr_t base, enum xlnx_axi_cdma_keyhole keyhole);

/* Prepares a transfer; only while the engine is idle. */
void xlnx_axi_cdma_set_addresses(const struct xlnx_axi_cdma *dma, uintptr_t source, uintptr_t destination);

/* Starts it: `bytes` from 1 to 2^26 - 1. */
void xlnx_axi_cdma_start(const struct xlnx_axi_cdma *dma, uint32_t bytes);

/* 1 idle, 0 busy, ERROR_DMA if a bus access failed. One register read. */
int xlnx_axi_cdma_poll(const struct xlnx_axi_cdma *dma);

/* Waits until the transfer is over (xlnx_transfer.h). ERROR_TIMEOUT, ERROR_DMA. */
int xlnx_axi_cdma_wait(const struct xlnx_axi_cdma *dma);

/* Takes the engine's interrupt back; `context` is its struct xlnx_axi_cdma. With completion=interrupts only. */
void xlnx_axi_cdma_interrupt(void *context);

#endif
