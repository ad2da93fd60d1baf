/* The RTC of an STM32F4 and, with STM32L4, of an STM32L4R5, by LSI of 32 kHz: the calendar, an alarm and wake-ups by
 * interrupts through EXTI, and a backup register. */
#include "armv7m.h"
#include "console.h"
#include "mmio.h"
#include "nvic.h"

#define DBGMCU_CR 0xE0042004u
#define PWR 0x40007000u
#define RTC 0x40002800u
#define RTC_TR 0x00u
#define RTC_DR 0x04u
#define RTC_CR 0x08u
#define RTC_ISR 0x0Cu
#define RTC_PRER 0x10u
#define RTC_WUTR 0x14u
#define RTC_ALRMAR 0x1Cu
#define RTC_WPR 0x24u
#define RTC_BKP0R 0x50u
#define RSF (1u << 5)
#define INITF (1u << 6)
#define INIT (1u << 7)
#define ALRAF (1u << 8)
#define WUTF (1u << 10)
#ifdef STM32L4
#define RCC 0x40021000u
#define RCC_APB1ENR 0x58u
#define RCC_BDCR 0x90u
#define RCC_CSR 0x94u
#define EXTI 0x40010400u
#define ALARM_LINE (1u << 18)
#define WAKEUP_LINE (1u << 20)
#else
#define RCC 0x40023800u
#define RCC_APB1ENR 0x40u
#define RCC_BDCR 0x70u
#define RCC_CSR 0x74u
#define EXTI 0x40013C00u
#define ALARM_LINE (1u << 17)
#define WAKEUP_LINE (1u << 22)
#endif
#define EXCEPTIONS 16u
#define WAKEUP_INTERRUPT 3u
#define ALARM_INTERRUPT 41u
#define SCB_VTOR 0xD08u
#define WAKEUPS 4u

extern const uint32_t vector_table[];
static uint32_t vectors[EXCEPTIONS + 95u] __attribute__((aligned(512)));
static volatile uint32_t wakeups, alarmed;
static volatile uint32_t woke_at[WAKEUPS], time_of_alarm, alarm_at;

static void on_wakeup(void)
{
    if (wakeups < WAKEUPS) {
        woke_at[wakeups] = armv7m_cycles();
    }
    wakeups++;
    mmio_write(RTC, RTC_ISR, ~(WUTF | INIT));
    mmio_write(EXTI, 0x14, WAKEUP_LINE);
    armv7m_dsb();
}

static void on_alarm(void)
{
    alarm_at = armv7m_cycles();
    alarmed = 1;
    mmio_write(RTC, RTC_ISR, ~(ALRAF | INIT | RSF));
    mmio_write(EXTI, 0x14, ALARM_LINE);
    /* Shadow registers follow within two clocks. */
    while ((mmio_read(RTC, RTC_ISR) & RSF) == 0) {
    }
    time_of_alarm = mmio_read(RTC, RTC_TR);
    (void)mmio_read(RTC, RTC_DR);
    armv7m_dsb();
}

static void handle(uint32_t interrupt, void (*handler)(void))
{
    vectors[EXCEPTIONS + interrupt] = (uint32_t)(uintptr_t)handler;
    nvic_enable(interrupt, 1);
}

static void start(void)
{
    for (uint32_t index = 0; index < EXCEPTIONS + 95u; index++) {
        vectors[index] = vector_table[index];
    }
    mmio_write(ARMV7M_SCS_BASE, SCB_VTOR, (uint32_t)(uintptr_t)vectors);
    /* It counts on while the core sleeps: DBG_SLEEP. */
    mmio_write(DBGMCU_CR, 0, 1);
    armv7m_start_cycle_counter();
    mmio_write(RCC, RCC_APB1ENR, mmio_read(RCC, RCC_APB1ENR) | 1u << 28 | 1u << 10);
    mmio_write(PWR, 0x00, mmio_read(PWR, 0x00) | 1u << 8);
    mmio_write(RCC, RCC_CSR, mmio_read(RCC, RCC_CSR) | 1u);
    while ((mmio_read(RCC, RCC_CSR) & 2u) == 0) {
    }
    mmio_write(RCC, RCC_BDCR, 2u << 8 | 1u << 15);
    /* Until the clock has come. */
    for (uint32_t begun = armv7m_cycles(); armv7m_cycles() - begun < 1000u;) {
    }
    mmio_write(EXTI, 0x00, mmio_read(EXTI, 0x00) | ALARM_LINE | WAKEUP_LINE);
    mmio_write(EXTI, 0x08, ALARM_LINE | WAKEUP_LINE);
    handle(WAKEUP_INTERRUPT, on_wakeup);
    handle(ALARM_INTERRUPT, on_alarm);
}

int main(void)
{
    start();
    console_print("reset: %06x %06x\n", mmio_read(RTC, RTC_TR), mmio_read(RTC, RTC_DR));
    mmio_write(RTC, RTC_BKP0R, 0x12345678u);
    mmio_write(RTC, RTC_WPR, 0xCA);
    mmio_write(RTC, RTC_WPR, 0x53);
    uint32_t begun = armv7m_cycles();
    mmio_write(RTC, RTC_ISR, INIT);
    while ((mmio_read(RTC, RTC_ISR) & INITF) == 0) {
    }
    uint32_t cycles = armv7m_cycles() - begun;
    /* 128 * 250. */
    mmio_write(RTC, RTC_PRER, 127u << 16 | 249u);
    mmio_write(RTC, RTC_TR, 0x235958u);
    mmio_write(RTC, RTC_DR, 0x246228u);
    mmio_write(RTC, RTC_ISR, 0);
    begun = armv7m_cycles();
    /* Each second 0 of a minute; a wake-up each 1000 * 16 clocks. */
    mmio_write(RTC, RTC_ALRMAR, 0x80808000u);
    mmio_write(RTC, RTC_WUTR, 999);
    mmio_write(RTC, RTC_CR, 1u << 8 | 1u << 12 | 1u << 10 | 1u << 14);
    while (!alarmed || wakeups < WAKEUPS) {
        armv7m_wait_for_interrupt();
    }
    console_print("init: %u cycles\n", cycles);
    console_print("alarm: %06x, %u cycles\n", time_of_alarm, alarm_at - begun);
    console_print("wake-ups: %u %u %u cycles\n", woke_at[1] - woke_at[0], woke_at[2] - woke_at[1],
        woke_at[3] - woke_at[2]);
    console_print("date: %06x, backup: %08x\n", mmio_read(RTC, RTC_DR), mmio_read(RTC, RTC_BKP0R));
    return 0;
}
