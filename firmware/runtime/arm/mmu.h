/* A flat map of 1 MB sections, addresses as they are: ARM ARM, B3.5, the short-descriptor format. */
#ifndef MMU_H
#define MMU_H

#include <stdint.h>

enum mmu_kind {
    MMU_CACHED,           /* normal memory, write-back, write-allocate, code allowed */
    MMU_CACHED_READ_ONLY, /* the same, faulting on stores */
    MMU_DEVICE,           /* registers, strongly ordered as Atmel's software package has them; no code */
};

/* The same and more by the descriptor's bits: TEX[0] (12), XN (4), C (3), B (2). */
enum mmu_attributes {
    MMU_NORMAL_CACHED = 0x100C,    /* write-back, write-allocate */
    MMU_NORMAL_UNCACHED = 0x1000,  /* stores may be gathered, and are not waited for */
    MMU_DEVICE_BUFFERED = 0x0014,  /* registers in order; stores are not waited for. No code */
};

/* Nothing is mapped. */
void mmu_clear(void);

/* Maps `bytes` from `base` on, both whole megabytes. */
void mmu_map(uint32_t base, uint32_t bytes, enum mmu_kind kind);

void mmu_map_as(uint32_t base, uint32_t bytes, enum mmu_attributes attributes);

/* Empties the L1 caches and the TLB and turns them on: MMU, data and instruction cache, branch prediction. */
void mmu_enable_with_caches(void);

#endif
