/* MDMA, the DMA controller of the STM32MP157 that reaches all memories (RM0436, MDMA): copies from memory to memory. */
#ifndef STM32_MDMA_H
#define STM32_MDMA_H

#include <stdbool.h>
#include <stdint.h>

#define MDMA_CHANNELS 32u

/* The most bytes of one transfer. */
#define MDMA_BLOCK_BYTES 65536u

/* Turns the clock on. */
void mdma_start(void);

/* Begins a transfer of up to MDMA_BLOCK_BYTES on a channel that is idle. It moves 8, 4, 2 or 1 bytes at a time, as
 * addresses and length allow. */
void mdma_begin(uint32_t channel, void *to, const void *from, uint32_t bytes);

/* True when the transfer of a channel has ended, well or not. */
bool mdma_is_done(uint32_t channel);

/* The end of a transfer: waits for it, and gives 0 or ERROR_DMA. */
int mdma_finish(uint32_t channel);

/* Copies any number of bytes, and waits for the end. The caller maintains the caches. Returns 0 or ERROR_DMA. */
int mdma_copy(uint32_t channel, void *to, const void *from, uint32_t bytes);

#endif
