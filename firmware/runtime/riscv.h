/* Machine-mode CSRs and fields, as in the RISC-V Privileged Architecture, chapter 3, and the counters of the
   unprivileged one, which cores without machine mode have as well. */
#ifndef RISCV_H
#define RISCV_H

#include <stdint.h>

#define RISCV_MSTATUS_MIE (1u << 3)
#define RISCV_MIE_MSIE (1u << 3)
#define RISCV_MIE_MTIE (1u << 7)
#define RISCV_MIE_MEIE (1u << 11)

#define RISCV_MCAUSE_INTERRUPT (1u << 31)
#define RISCV_INTERRUPT_SOFTWARE 3u
#define RISCV_INTERRUPT_TIMER 7u
#define RISCV_INTERRUPT_EXTERNAL 11u

#define riscv_csr_read(csr) \
    ({ uint32_t value_; __asm__ volatile("csrr %0, " #csr : "=r"(value_)); value_; })
#define riscv_csr_write(csr, value) __asm__ volatile("csrw " #csr ", %0" : : "r"((uint32_t)(value)) : "memory")
#define riscv_csr_set(csr, bits) __asm__ volatile("csrs " #csr ", %0" : : "r"((uint32_t)(bits)) : "memory")
#define riscv_csr_clear(csr, bits) __asm__ volatile("csrc " #csr ", %0" : : "r"((uint32_t)(bits)) : "memory")

/* A 64-bit counter held in two CSRs: read again when the high half moved in between. */
#define riscv_counter_read(low, high)                           \
    ({                                                          \
        uint32_t high_, low_;                                   \
        do {                                                    \
            high_ = riscv_csr_read(high);                       \
            low_ = riscv_csr_read(low);                         \
        } while (high_ != riscv_csr_read(high));                \
        ((uint64_t)high_ << 32) | low_;                         \
    })

/* Instructions retired since reset. */
static inline uint64_t riscv_instructions(void)
{
    return riscv_counter_read(instret, instreth);
}

/* Core clock cycles since reset. */
static inline uint64_t riscv_cycles(void)
{
    return riscv_counter_read(cycle, cycleh);
}

/* Sleep until an interrupt that mie enables is pending, taken or not. */
static inline void riscv_wait_for_interrupt(void)
{
    __asm__ volatile("wfi" : : : "memory");
}

/* Orders device and memory accesses as other bus masters see them. */
static inline void riscv_fence(void)
{
    __asm__ volatile("fence iorw, iorw" : : : "memory");
}

#endif
