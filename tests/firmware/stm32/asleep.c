/* Sleep on an STM32F4 or STM32L4+: how far DWT_CYCCNT counts in it, and what ends wfe (DDI 0403E, B1.5.18; RM0090,
 * 12.2.3 and 38.16.1; RM0432, the same). Then END chooses a sleep, or a handler, that never ends. */
#include "armv7m.h"
#include "board.h"
#include "console.h"
#include "mmio.h"
#include "nvic.h"

#include <stdbool.h>

#define TIM2 0x40000000u
#define TIM2_INTERRUPT 28u
#define DBGMCU_CR 0xE0042004u
#define NVIC_ISPR 0x200u
#define NVIC_ICPR 0x280u
#define SCB_VTOR 0xD08u
#define SCB_SCR 0xD10u
#define SCR_SEVONPEND (1u << 4)
#define TICKS 1000u
#define VECTORS 128u
#define IN_EXTI_EMR 0x04u
#define IN_EXTI_SWIER 0x10u
#define IN_EXTI_PR 0x14u

#if defined(BOARD_LPUART1_BASE)
#define EXTI 0x40010400u
#define RCC_APB1ENR 0x40021058u
#else
#define EXTI 0x40013C00u
#define RCC_APB1ENR 0x40023840u
#endif

extern const uint32_t vector_table[];
static uint32_t vectors[VECTORS] __attribute__((aligned(512)));
volatile uint32_t taken;
static bool never_clears;

static void on_timer(void)
{
    taken++;
    if (!never_clears) {
        mmio_write(TIM2, 0x10, 0);
        (void)mmio_read(TIM2, 0x10);
    }
}

/* It clears the flag by its last store. */
__attribute__((naked)) static void on_timer_late(void)
{
    __asm__("ldr r0, =taken\nldr r1, [r0]\nadds r1, #1\nstr r1, [r0]\n"
            "ldr r0, =0x40000010\nmovs r1, #0\nstr r1, [r0]\nbx lr");
}

static void start_timer(uint32_t ticks, uint32_t control)
{
    mmio_write(TIM2, 0x00, 0);
    mmio_write(TIM2, 0x28, 0);
    mmio_write(TIM2, 0x2C, ticks - 1);
    mmio_write(TIM2, 0x14, 1);
    mmio_write(TIM2, 0x10, 0);
    mmio_write(TIM2, 0x0C, 1);
    (void)mmio_read(TIM2, 0x10);
    mmio_write(ARMV7M_SCS_BASE, NVIC_ICPR, 1u << TIM2_INTERRUPT);
    mmio_write(TIM2, 0x00, control);
}

static inline void wait_for_event(void)
{
    __asm__ volatile("wfe" : : : "memory");
}

static inline void send_event(void)
{
    __asm__ volatile("sev" : : : "memory");
}

/* Cycles of a wfe that leaves no earlier event pending. */
static uint32_t cycles_of_wait(uint32_t exti_event)
{
    send_event();
    wait_for_event();
    start_timer(TICKS, 1u | 1u << 3);
    if (exti_event != 0) {
        mmio_write(EXTI, IN_EXTI_SWIER, exti_event);
        (void)mmio_read(EXTI, IN_EXTI_SWIER);
    }
    uint32_t start = armv7m_cycles();

    wait_for_event();
    uint32_t cycles = armv7m_cycles() - start;

    mmio_write(EXTI, IN_EXTI_PR, exti_event);
    return cycles;
}

static void events(void)
{
    mmio_write(ARMV7M_SCS_BASE, SCB_SCR, SCR_SEVONPEND);
    uint32_t disabled = cycles_of_wait(0);

    nvic_enable(TIM2_INTERRUPT, 1);
    armv7m_disable_interrupts();
    uint32_t masked = cycles_of_wait(0);

    mmio_write(ARMV7M_SCS_BASE, SCB_SCR, 0);
    nvic_disable(TIM2_INTERRUPT);
    mmio_write(EXTI, IN_EXTI_EMR, 1);
    uint32_t by_exti = cycles_of_wait(1);

    mmio_write(EXTI, IN_EXTI_EMR, 0);
    armv7m_enable_interrupts();
    nvic_enable(TIM2_INTERRUPT, 1);
    taken = 0;
    uint32_t interrupt = cycles_of_wait(0);

    console_print("wfe: %u %u %u %u, %u taken\n", disabled, masked, by_exti, interrupt, taken);
}

static uint32_t cycles_asleep(bool clocked)
{
    mmio_write(DBGMCU_CR, 0, clocked ? 1 : 0);
    start_timer(TICKS, 1);
    taken = 0;
    uint32_t start = armv7m_cycles();

    while (taken < 10) {
        armv7m_wait_for_interrupt();
    }
    return armv7m_cycles() - start;
}

static void sleep_for_ever(void)
{
    start_timer(TICKS, 0);
#if END == 1
    for (;;) {
        armv7m_wait_for_interrupt();
    }
#elif END == 2
    nvic_disable(TIM2_INTERRUPT);
    mmio_write(ARMV7M_SCS_BASE, NVIC_ISPR, 1u << TIM2_INTERRUPT);
    for (;;) {
        wait_for_event();
    }
#elif END == 3
    armv7m_disable_interrupts();
    mmio_write(ARMV7M_SCS_BASE, NVIC_ISPR, 1u << TIM2_INTERRUPT);
    for (;;) {
        wait_for_event();
    }
#elif END == 4
    never_clears = true;
    start_timer(TICKS, 1);
    for (;;) {
    }
#elif END == 5 || END == 6
    /* RXNEIE, as the console waits for what is typed; its interrupt is let in, or not. */
    mmio_write(BOARD_USART2_BASE, 0x0C, mmio_read(BOARD_USART2_BASE, 0x0C) | 1u << 5);
    nvic_disable(TIM2_INTERRUPT);
    if (END == 5) {
        nvic_enable(38, 1);
    }
    for (;;) {
        armv7m_wait_for_interrupt();
    }
#endif
}

int main(void)
{
    for (uint32_t index = 0; index < VECTORS; index++) {
        vectors[index] = vector_table[index];
    }
    vectors[16 + TIM2_INTERRUPT] = (uint32_t)(uintptr_t)on_timer;
    mmio_write(ARMV7M_SCS_BASE, SCB_VTOR, (uint32_t)(uintptr_t)vectors);
    mmio_write(RCC_APB1ENR, 0, mmio_read(RCC_APB1ENR, 0) | 1);
    (void)mmio_read(RCC_APB1ENR, 0);
    armv7m_start_cycle_counter();
    mmio_write(DBGMCU_CR, 0, 1);
    events();
    uint32_t clocked = cycles_asleep(true);
    uint32_t stopped = cycles_asleep(false);

    console_print("wfi: %u, %u awake\n", clocked, stopped);
    vectors[16 + TIM2_INTERRUPT] = (uint32_t)(uintptr_t)on_timer_late;
    taken = 0;
    start_timer(TICKS, 1u | 1u << 3);
    while (taken < 1) {
    }
    mmio_write(DBGMCU_CR, 0, 1);
    console_print("taken %u\n", taken);
    vectors[16 + TIM2_INTERRUPT] = (uint32_t)(uintptr_t)on_timer;
    sleep_for_ever();
    return 0;
}
