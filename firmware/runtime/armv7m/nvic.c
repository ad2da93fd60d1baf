#include "nvic.h"

#include "armv7m.h"

#define PRIORITY_SHIFT 4
#define PRIGROUP_ALL_PREEMPT (3u << 8)

void nvic_start(void)
{
    mmio_write(ARMV7M_SCS_BASE, SCB_AIRCR, AIRCR_VECTKEY | PRIGROUP_ALL_PREEMPT);
}

void nvic_enable(uint32_t interrupt, uint32_t priority)
{
    *(volatile uint8_t *)(ARMV7M_SCS_BASE + NVIC_IPR + interrupt) = (uint8_t)(priority << PRIORITY_SHIFT);
    mmio_write(ARMV7M_SCS_BASE, NVIC_ISER + interrupt / 32 * 4, 1u << interrupt % 32);
}

void nvic_disable(uint32_t interrupt)
{
    mmio_write(ARMV7M_SCS_BASE, NVIC_ICER + interrupt / 32 * 4, 1u << interrupt % 32);
    armv7m_dsb();
    __asm__ volatile("isb" : : : "memory");
}
