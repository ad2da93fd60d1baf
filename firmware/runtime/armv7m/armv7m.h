/* Instructions and registers of an ARMv7-M core that C has no words for. Names: ARMv7-M Architecture Reference Manual
 * (DDI 0403E), B3. */
#ifndef ARMV7M_H
#define ARMV7M_H

#include "mmio.h"

#include <stdint.h>

/* The System Control Space, and the debug blocks before it. */
#define ARMV7M_DWT_BASE 0xE0001000u
#define ARMV7M_SCS_BASE 0xE000E000u

#define DWT_CTRL 0x000u
#define DWT_CYCCNT 0x004u
#define DWT_CTRL_CYCCNTENA (1u << 0)

#define SYST_CSR 0x010u
#define SYST_RVR 0x014u
#define SYST_CVR 0x018u
#define SYST_CSR_ENABLE (1u << 0)
#define SYST_CSR_TICKINT (1u << 1)
#define SYST_CSR_CLKSOURCE (1u << 2)

#define NVIC_ISER 0x100u
#define NVIC_ICER 0x180u
#define NVIC_ISPR 0x200u
#define NVIC_ICPR 0x280u
#define NVIC_IPR 0x400u

#define SCB_AIRCR 0xD0Cu
#define SCB_SHPR3 0xD20u
#define SCB_CFSR 0xD28u
#define SCB_HFSR 0xD2Cu
#define SCB_MMFAR 0xD34u
#define SCB_BFAR 0xD38u
#define SCB_DEMCR 0xDFCu
#define AIRCR_VECTKEY (0x5FAu << 16)
#define DEMCR_TRCENA (1u << 24)

/* Counts core cycles from now on, in DWT_CYCCNT. */
static inline void armv7m_start_cycle_counter(void)
{
    mmio_write(ARMV7M_SCS_BASE, SCB_DEMCR, mmio_read(ARMV7M_SCS_BASE, SCB_DEMCR) | DEMCR_TRCENA);
    mmio_write(ARMV7M_DWT_BASE, DWT_CYCCNT, 0);
    mmio_write(ARMV7M_DWT_BASE, DWT_CTRL, mmio_read(ARMV7M_DWT_BASE, DWT_CTRL) | DWT_CTRL_CYCCNTENA);
}

/* Cycles since then, 32 bits of them. */
static inline uint32_t armv7m_cycles(void)
{
    return mmio_read(ARMV7M_DWT_BASE, DWT_CYCCNT);
}

static inline void armv7m_wait_for_interrupt(void)
{
    __asm__ volatile("wfi" : : : "memory");
}

static inline void armv7m_dsb(void)
{
    __asm__ volatile("dsb" : : : "memory");
}

static inline void armv7m_enable_interrupts(void)
{
    __asm__ volatile("cpsie i" : : : "memory");
}

static inline void armv7m_disable_interrupts(void)
{
    __asm__ volatile("cpsid i" : : : "memory");
}

#endif
