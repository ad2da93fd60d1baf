#include "mmu.h"

#include "arm.h"

#define SECTIONS 4096u
#define SECTION_SHIFT 20

#define SECTION_TYPE (2u << 0)
#define SECTION_B (1u << 2)
#define SECTION_C (1u << 3)
#define SECTION_XN (1u << 4)
#define SECTION_AP_FULL (3u << 10)
#define SECTION_TEX_WRITE_ALLOCATE (1u << 12)
#define SECTION_AP_READ_ONLY (1u << 15)

/* Domain 0: accesses are checked against the permissions. */
#define DACR_CLIENT 1u

/* The L1 data cache of a Cortex-A5 (TRM, 7.1): four ways, lines of 32 bytes; these are the sets of one of 32 KB. A
 * Cortex-A7's (TRM, 6.1) has half as many sets of 64 bytes: each of them is met twice. */
#define DATA_CACHE_WAYS 4u
#define DATA_CACHE_SETS 256u
#define WAY_SHIFT 30
#define SET_SHIFT 5

static uint32_t table[SECTIONS] __attribute__((section(".translation_table"), aligned(16384)));

void mmu_clear(void)
{
    for (uint32_t i = 0; i < SECTIONS; i++) {
        table[i] = 0;
    }
}

void mmu_map(uint32_t base, uint32_t bytes, enum mmu_kind kind)
{
    const uint32_t cached = SECTION_TYPE | SECTION_AP_FULL | SECTION_TEX_WRITE_ALLOCATE | SECTION_C | SECTION_B;
    const uint32_t device = SECTION_TYPE | SECTION_AP_FULL | SECTION_XN;
    uint32_t attributes = kind == MMU_DEVICE ? device : kind == MMU_CACHED ? cached : cached | SECTION_AP_READ_ONLY;
    uint32_t first = base >> SECTION_SHIFT;

    for (uint32_t i = first; i < first + (bytes >> SECTION_SHIFT); i++) {
        table[i] = i << SECTION_SHIFT | attributes;
    }
}

void mmu_map_as(uint32_t base, uint32_t bytes, enum mmu_attributes attributes)
{
    uint32_t first = base >> SECTION_SHIFT;

    for (uint32_t i = first; i < first + (bytes >> SECTION_SHIFT); i++) {
        table[i] = i << SECTION_SHIFT | SECTION_TYPE | SECTION_AP_FULL | attributes;
    }
}

static void invalidate_data_cache(void)
{
    for (uint32_t way = 0; way < DATA_CACHE_WAYS; way++) {
        for (uint32_t set = 0; set < DATA_CACHE_SETS; set++) {
            arm_invalidate_data_line_by_set_way(way << WAY_SHIFT | set << SET_SHIFT);
        }
    }
}

void mmu_enable_with_caches(void)
{
    invalidate_data_cache();
    arm_invalidate_instruction_cache();
    arm_invalidate_branch_predictor();
    arm_invalidate_tlb();
    arm_write_ttbcr(0);
    arm_write_ttbr0((uint32_t)table);
    arm_write_dacr(DACR_CLIENT);
    arm_dsb();
    arm_isb();
    uint32_t sctlr = arm_read_sctlr() | ARM_SCTLR_M | ARM_SCTLR_C | ARM_SCTLR_I;
#if APP_BRANCH_PREDICTION_ON
    sctlr |= ARM_SCTLR_Z;
#endif
    arm_write_sctlr(sctlr);
    arm_isb();
}
