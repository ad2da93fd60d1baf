/* Registers of coprocessor 0 and instructions of a MIPS32 release 1 core that C has no words for. Names: MIPS32
 * Architecture for Programmers, volume III (MD00090). Included by assembly too. */
#ifndef MIPS_H
#define MIPS_H

#define MIPS_STATUS_IE (1U << 0)
#define MIPS_STATUS_EXL (1U << 1)
#define MIPS_STATUS_ERL (1U << 2)
/* Interrupts by Cause.IP2: the interrupt controller's. */
#define MIPS_STATUS_IM2 (1U << 10)
#define MIPS_STATUS_BEV (1U << 22)
#define MIPS_STATUS_CU0 (1U << 28)

#define MIPS_CAUSE_EXCCODE_SHIFT 2
#define MIPS_CAUSE_EXCCODE_MASK 0x1FU
#define MIPS_CAUSE_CE_SHIFT 28
#define MIPS_CAUSE_CE_MASK 0x3U
#define MIPS_CAUSE_BD (1U << 31)
/* Interrupts have a vector of their own. */
#define MIPS_CAUSE_IV (1U << 23)

#define MIPS_CONFIG_K0_MASK 0x7U
#define MIPS_CONFIG_K0_CACHEABLE 3

/* Operations of the cache instruction. */
#define MIPS_CACHE_INDEX_STORE_TAG_I 0x08
#define MIPS_CACHE_INDEX_STORE_TAG_D 0x09

/* Segments of the address space. */
#define MIPS_KSEG0 0x80000000U
#define MIPS_KSEG1 0xA0000000U

/* Numbers for mfc0 and mtc0. */
#define MIPS_CP0_BADVADDR $8
#define MIPS_CP0_STATUS $12
#define MIPS_CP0_CAUSE $13
#define MIPS_CP0_EPC $14
#define MIPS_CP0_CONFIG $16
#define MIPS_CP0_TAGLO $28
#define MIPS_CP0_TAGHI $29
#define MIPS_CP0_ERROREPC $30

#ifndef __ASSEMBLER__

#include <stdint.h>

static inline uint32_t mips_read_status(void)
{
    uint32_t value;

    __asm__ volatile("mfc0 %0, $12" : "=r"(value) : : "memory");
    return value;
}

/* Its interrupt bits take effect for the instructions after it: the release has no barrier for that but three
 * ssnop (chapter CP0 Hazards). */
static inline void mips_write_status(uint32_t value)
{
    __asm__ volatile("mtc0 %0, $12\n\tssnop\n\tssnop\n\tssnop" : : "r"(value) : "memory");
}

/* Waits for an interrupt, if the core is one that can. */
static inline void mips_wait(void)
{
    __asm__ volatile("wait" : : : "memory");
}

#endif
#endif
