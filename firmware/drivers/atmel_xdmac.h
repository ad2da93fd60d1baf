/* DMA controller 0 of the SAMA5D2 (data sheet, chapter DMA Controller): single blocks, polled. */
#ifndef ATMEL_XDMAC_H
#define ATMEL_XDMAC_H

#include <stdbool.h>
#include <stdint.h>

/* A channel's transfer: bytes between a peripheral's register and memory, one a request, or words between memories in
 * bursts of 16. */
enum xdmac_kind {
    XDMAC_FROM_PERIPHERAL,
    XDMAC_TO_PERIPHERAL,       /* the byte at `from`, again and again */
    XDMAC_BETWEEN_MEMORIES,
};

/* Lets the controller's clock run. */
void xdmac_start(void);

/* Sets a channel up; `line` is the peripheral's request line (data sheet, peripheral connections), `bytes` a whole
 * number of data. */
void xdmac_set_channel(
    uint32_t channel, enum xdmac_kind kind, uint32_t line, uintptr_t from, uintptr_t to, uint32_t bytes);

/* Lets channels go, a bit each. */
void xdmac_enable(uint32_t channels);

/* Waits for the end of a channel's block. False if a bus error ended it, or if it does not come. */
bool xdmac_wait(uint32_t channel);

#endif
