/* Rows of loads and stores, and how many cycles they take: each is between two reads of the cycle counter (DWT_CYCCNT),
 * after a load of its first address. */
#ifndef ROWS_H
#define ROWS_H

#include "mmio.h"

#include <stdint.h>

#define DEMCR 0xE000EDFCu
#define DEMCR_TRCENA (1u << 24)
#define DWT_CTRL 0xE0001000u
#define DWT_CYCCNT 0xE0001004u
#define RUNS 3

/* Eight times some instructions, with the addresses in r0 and r1; r3, r4 and r7 are theirs. */
#define ROW(name, instructions)                                                                                       \
    uint32_t name(uintptr_t first, uintptr_t second, uintptr_t counter);                                              \
    __asm__(".pushsection .text." #name ", \"ax\", %progbits\n"                                                       \
            ".balign 8\n.global " #name "\n.type " #name ", %function\n.thumb_func\n" #name ":\n"                     \
            "push {r4-r7, lr}\nldr r4, [r0]\n.balign 8\nnop.w\nldr r5, [r2]\nnop\n"                                  \
            ".rept 8\n" instructions "\n.endr\n"                                                                     \
            "nop\nldr r6, [r2]\nsubs r0, r6, r5\npop {r4-r7, pc}\n.popsection");

typedef uint32_t row(uintptr_t first, uintptr_t second, uintptr_t counter);

static inline void count_cycles(void)
{
    mmio_write(DEMCR, 0, mmio_read(DEMCR, 0) | DEMCR_TRCENA);
    mmio_write(DWT_CTRL, 0, mmio_read(DWT_CTRL, 0) | 1);
}

/* The last of some runs: a simulator may compile what ran before. */
static inline uint32_t last(row *row, uintptr_t first, uintptr_t second)
{
    uint32_t cycles = 0;

    for (int i = 0; i < RUNS; i++) {
        cycles = row(first, second, DWT_CYCCNT);
    }
    return cycles;
}

#endif
