/* AXI Quad SPI (PG153 v3.2), legacy and enhanced mode, master, one slave, SPI mode 0.
 *
 * The core moves one byte of a frame per FIFO word, and every byte sent (command, address and dummy bytes too)
 * brings one received. In dual and quad configuration it reads the first byte of a frame as the flash command and
 * chooses the lines of each later byte by it (PG153, Dual/Quad Mode SPI Configuration): frames are the same
 * sequence of words in every configuration.
 *
 * With DMA engines (enhanced mode: DTR and DRR take FIXED bursts), `fill` moves words from memory to the transmit
 * FIFO and `drain` from the receive FIFO to memory. Without, the processor does. */
#ifndef XLNX_AXI_QUAD_SPI_H
#define XLNX_AXI_QUAD_SPI_H

#include "xlnx_axi_cdma.h"

#include <stdint.h>

struct xlnx_axi_quad_spi {
    uintptr_t base;
    uint32_t fifo_words;               /* depth of each FIFO, found at initialisation */
    const struct xlnx_axi_cdma *fill;  /* keyhole on its writing side, or 0 */
    const struct xlnx_axi_cdma *drain; /* keyhole on its reading side, or 0 */
};

/* Resets the core and finds its FIFOs' depth. ERROR_SPI_FIFO. */
int xlnx_axi_quad_spi_init(struct xlnx_axi_quad_spi *spi, uintptr_t base, const struct xlnx_axi_cdma *fill,
                           const struct xlnx_axi_cdma *drain);

/* One short frame, moved by the processor: sends `count` bytes, at most the FIFO's depth, and gives the bytes
   received in their place, unless `received` is 0. ERROR_TOO_LONG, ERROR_TIMEOUT, ERROR_SPI_COMMAND. */
int xlnx_axi_quad_spi_exchange(const struct xlnx_axi_quad_spi *spi, const uint8_t *sent, uint8_t *received,
                               uint32_t count);

/* One frame that only sends: the transmit FIFO is filled first, then the transfer starts and what is left follows
   as the FIFO drains. The received bytes are dropped. `words`: a byte each, in uncached memory where DMA is used.
   ERROR_TIMEOUT, ERROR_SPI_COMMAND, ERROR_DMA. */
int xlnx_axi_quad_spi_write(const struct xlnx_axi_quad_spi *spi, const uint32_t *words, uint32_t count);

/* One frame that reads: `header_words` (command, address and dummy bytes) of `words` start the transfer at once;
   the rest of the `count` words follows, and all that comes back is stored in `received`, `count` words, while
   the wire runs. Where DMA is used, `words` must be uncached, and the processor must not have touched `received`.
   ERROR_TIMEOUT, ERROR_SPI_COMMAND, ERROR_DMA. */
int xlnx_axi_quad_spi_read(const struct xlnx_axi_quad_spi *spi, const uint32_t *words, uint32_t header_words,
                           uint32_t *received, uint32_t count);

/* Takes the core's interrupt back; `context` is its struct xlnx_axi_quad_spi. With completion=interrupts only, where
   the core interrupts when its transmit FIFO is half empty or empty and when it refuses a command. */
void xlnx_axi_quad_spi_interrupt(void *context);

#endif
