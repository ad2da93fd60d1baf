#include "systick.h"

#include "armv7m.h"
#include "nvic.h"

#define TICK_HZ 1000u
/* In SHPR3, above PendSV's. */
#define SHPR3_SYSTICK_SHIFT 28

/* Entry of the vector table. */
void SysTick_Handler(void);

static volatile uint32_t ticks;

void SysTick_Handler(void)
{
    ticks++;
}

void systick_start(uint32_t core_hz)
{
    mmio_write(ARMV7M_SCS_BASE, SYST_RVR, core_hz / TICK_HZ - 1);
    mmio_write(ARMV7M_SCS_BASE, SCB_SHPR3,
               (mmio_read(ARMV7M_SCS_BASE, SCB_SHPR3) & 0x00FFFFFFu) | NVIC_PRIORITY_LOWEST << SHPR3_SYSTICK_SHIFT);
    mmio_write(ARMV7M_SCS_BASE, SYST_CVR, 0);
    mmio_write(ARMV7M_SCS_BASE, SYST_CSR, SYST_CSR_CLKSOURCE | SYST_CSR_TICKINT | SYST_CSR_ENABLE);
}

uint32_t systick_ms(void)
{
    return ticks;
}

void systick_delay_ms(uint32_t milliseconds)
{
    uint32_t start = systick_ms();

    /* One more: the first tick may come at once. */
    while (systick_ms() - start <= milliseconds) {
        armv7m_wait_for_interrupt();
    }
}
