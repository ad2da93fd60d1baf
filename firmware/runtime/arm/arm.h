/* Instructions and CP15 registers of an ARMv7-A core that C has no words for. Names: ARM Architecture Reference Manual,
 * ARMv7-A and ARMv7-R edition, B3.17 and B4.1. */
#ifndef ARM_H
#define ARM_H

#include <stdint.h>

#define ARM_SCTLR_M (1u << 0)  /* MMU */
#define ARM_SCTLR_A (1u << 1)  /* alignment faults */
#define ARM_SCTLR_C (1u << 2)  /* data cache */
#define ARM_SCTLR_Z (1u << 11) /* branch prediction */
#define ARM_SCTLR_I (1u << 12) /* instruction cache */
#define ARM_SCTLR_V (1u << 13) /* vectors at 0xFFFF0000 */

#define arm_cp15_read(opc1, crn, crm, opc2)                                                                           \
    ({                                                                                                                \
        uint32_t value_;                                                                                              \
        __asm__ volatile("mrc p15, " #opc1 ", %0, " #crn ", " #crm ", " #opc2 : "=r"(value_) : : "memory");           \
        value_;                                                                                                       \
    })
#define arm_cp15_write(opc1, crn, crm, opc2, value)                                                                   \
    __asm__ volatile("mcr p15, " #opc1 ", %0, " #crn ", " #crm ", " #opc2 : : "r"((uint32_t)(value)) : "memory")

#define arm_read_sctlr() arm_cp15_read(0, c1, c0, 0)
#define arm_write_sctlr(value) arm_cp15_write(0, c1, c0, 0, value)
#define arm_write_ttbr0(value) arm_cp15_write(0, c2, c0, 0, value)
#define arm_write_ttbcr(value) arm_cp15_write(0, c2, c0, 2, value)
#define arm_write_dacr(value) arm_cp15_write(0, c3, c0, 0, value)
#define arm_read_dfsr() arm_cp15_read(0, c5, c0, 0)
#define arm_read_ifsr() arm_cp15_read(0, c5, c0, 1)
#define arm_read_dfar() arm_cp15_read(0, c6, c0, 0)
#define arm_read_ifar() arm_cp15_read(0, c6, c0, 2)
#define arm_invalidate_instruction_cache() arm_cp15_write(0, c7, c5, 0, 0)
#define arm_invalidate_branch_predictor() arm_cp15_write(0, c7, c5, 6, 0)
#define arm_invalidate_data_line_by_set_way(line) arm_cp15_write(0, c7, c6, 2, line)
#define arm_invalidate_data_line(address) arm_cp15_write(0, c7, c6, 1, address)
#define arm_clean_data_line(address) arm_cp15_write(0, c7, c10, 1, address)
#define arm_clean_and_invalidate_data_line(address) arm_cp15_write(0, c7, c14, 1, address)
#define arm_invalidate_tlb() arm_cp15_write(0, c8, c7, 0, 0)

/* Functions that must not be calls: code in SRAM uses them before the memory that the rest is in can be read. */
#define ARM_ALWAYS_INLINE static inline __attribute__((always_inline))

/* Waits until all accesses before it are complete. */
ARM_ALWAYS_INLINE void arm_dsb(void)
{
    __asm__ volatile("dsb" : : : "memory");
}

/* Lets changes of CP15 take effect on the instructions after it. */
ARM_ALWAYS_INLINE void arm_isb(void)
{
    __asm__ volatile("isb" : : : "memory");
}

ARM_ALWAYS_INLINE void arm_enable_interrupts(void)
{
    __asm__ volatile("cpsie i" : : : "memory");
}

ARM_ALWAYS_INLINE void arm_disable_interrupts(void)
{
    __asm__ volatile("cpsid i" : : : "memory");
}

ARM_ALWAYS_INLINE void arm_wait_for_interrupt(void)
{
    __asm__ volatile("wfi" : : : "memory");
}

#endif
