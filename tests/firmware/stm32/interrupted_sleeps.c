/* Sleeps of an STM32F407 out of reset (16 MHz), each ended by one interrupt: of the system timer, whose line changes
 * its level with each tick, and of a DMA stream, which copies between memories. Registers are those of RM0090 and
 * DDI 0403E, B3.3. */
#include "armv7m.h"
#include "mmio.h"
#include "nvic.h"
#include "section.h"

#define RCC 0x40023800u
#define RCC_AHB1ENR 0x30u
#define DMA2 0x40026400u
#define DMA2_STREAM0_INTERRUPT 56u
#define EXCEPTIONS 16u
#define SYSTICK 15u
#define SCB_VTOR 0xD08u
#define WORDS 4096u

extern const uint32_t vector_table[];
static uint32_t vectors[EXCEPTIONS + 95u] __attribute__((aligned(512)));
static volatile uint32_t ticks, copies;
static uint32_t source[WORDS], target[WORDS];

static void on_tick(void)
{
    ticks++;
}

static void on_copied(void)
{
    copies++;
    mmio_write(DMA2, 0x08, 0x3Du);
    armv7m_dsb();
}

SECTION void sleep_for_ticks(void)
{
    mmio_write(ARMV7M_SCS_BASE, SYST_RVR, 16000u - 1u);
    mmio_write(ARMV7M_SCS_BASE, SYST_CVR, 0);
    mmio_write(ARMV7M_SCS_BASE, SYST_CSR, SYST_CSR_ENABLE | SYST_CSR_TICKINT | SYST_CSR_CLKSOURCE);
    while (ticks < 8) {
        armv7m_wait_for_interrupt();
    }
    mmio_write(ARMV7M_SCS_BASE, SYST_CSR, 0);
}

SECTION void sleep_for_copies(void)
{
    mmio_write(DMA2, 0x14, WORDS);
    mmio_write(DMA2, 0x18, (uint32_t)(uintptr_t)source);
    mmio_write(DMA2, 0x1C, (uint32_t)(uintptr_t)target);
    mmio_write(DMA2, 0x24, 7u);
    /* Each enable but the first loads the number of words again. */
    for (uint32_t copy = 1; copy <= 2; copy++) {
        mmio_write(DMA2, 0x10, 2u << 6 | 1u << 9 | 1u << 10 | 2u << 11 | 2u << 13 | 1u << 4 | 1u);
        while (copies < copy) {
            armv7m_wait_for_interrupt();
        }
    }
}

int main(void)
{
    for (uint32_t index = 0; index < EXCEPTIONS + 95u; index++) {
        vectors[index] = vector_table[index];
    }
    vectors[SYSTICK] = (uint32_t)(uintptr_t)on_tick;
    vectors[EXCEPTIONS + DMA2_STREAM0_INTERRUPT] = (uint32_t)(uintptr_t)on_copied;
    mmio_write(ARMV7M_SCS_BASE, SCB_VTOR, (uint32_t)(uintptr_t)vectors);
    mmio_write(RCC, RCC_AHB1ENR, mmio_read(RCC, RCC_AHB1ENR) | 1u << 22);
    nvic_enable(DMA2_STREAM0_INTERRUPT, 1);
    sleep_for_ticks();
    sleep_for_copies();
    return 0;
}
