/* The L1 data cache by ranges of addresses, for memory that another core or a DMA controller uses, too. */
#ifndef CACHE_H
#define CACHE_H

#include <stdint.h>

/* A Cortex-A7's line (TRM, 6.1), in bytes: what shares one with a range is written back or dropped with it. */
#define CACHE_LINE_BYTES 64u

/* Writes what the cache alone has to memory, where others can read it. */
void cache_clean(const void *start, uint32_t bytes);

/* Drops lines from the cache, so that the next reads see what others wrote. Data that only the cache had are lost. */
void cache_invalidate(const void *start, uint32_t bytes);

/* Both. */
void cache_clean_and_invalidate(const void *start, uint32_t bytes);

#endif
