/* The M4's part of moving blocks: into and out of its SRAM, a portion at a time. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdint.h>

/* Bytes of a block. */
extern uint32_t blocks_bytes;

/* Fills what the M4 sends, clears what it receives. */
void blocks_start(void);

/* Blocks have `bytes` bytes from now on. */
void blocks_resize(uint32_t bytes);

/* Takes a block from the shared buffer, or puts one there. */
void blocks_take(uint32_t offset);
void blocks_put(uint32_t offset);

/* A message with a part of a block has come. True if it was the last of the block. */
int blocks_receive(const uint8_t *data, uint32_t bytes);

/* The part of a block at `at` that is sent, up to `*bytes`, which may be reduced. */
const uint8_t *blocks_data(uint32_t at, uint32_t *bytes);

/* How many bytes of the last portion are not what they should be. */
uint32_t blocks_wrong(void);

#endif
