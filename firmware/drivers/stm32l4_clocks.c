/* The clocks of an STM32L4+ at 120 or 80 MHz, from MSI of 4 MHz by the PLL (RM0432, "PLL"; "Dynamic voltage scaling
 * management": boost mode above 80 MHz, and half of SYSCLK for a microsecond; "Read access latency"). */
#include "armv7m.h"
#include "board.h"
#include "mmio.h"
#include "stm32_board.h"
#include "stm32l4_clocks.h"
#include "stm32l4_rcc.h"

#define FLASH_ACR 0x00u
#define FLASH_ACR_PRFTEN (1u << 8)
#define FLASH_ACR_ICEN (1u << 9)
#define FLASH_ACR_DCEN (1u << 10)
#define FLASH_ACR_LATENCY 0xFu
#define WAIT_STATES_120_MHZ 5u

#define PWR_CR5 0x80u
#define PWR_CR5_R1MODE (1u << 8)

/* MSI times this, halved (PLLM and PLLR as out of reset, 1 and 2). */
#define PLL_N_120_MHZ 60u
#define PLL_N_80_MHZ 40u
#define FAST_HZ 120000000u

static void wait_a_microsecond(void)
{
    uint32_t start = armv7m_cycles();

    while (armv7m_cycles() - start < FAST_HZ / 2000000u) {
    }
}

static bool start_pll(uint32_t n)
{
    mmio_write(BOARD_RCC_BASE, RCC_PLLCFGR, RCC_PLLCFGR_MSI | n << 8 | RCC_PLLCFGR_REN);
    rcc_set_bits(RCC_CR, RCC_CR_PLLON);
    return rcc_wait_for(RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
}

static void set_flash(uint32_t accelerators, uint32_t wait_states)
{
    uint32_t access = wait_states;

    if (accelerators & STM32L4_PREFETCH) {
        access |= FLASH_ACR_PRFTEN;
    }
    if (accelerators & STM32L4_CACHES) {
        access |= FLASH_ACR_ICEN | FLASH_ACR_DCEN;
    }
    mmio_write(BOARD_FLASH_BASE, FLASH_ACR, access);
    while ((mmio_read(BOARD_FLASH_BASE, FLASH_ACR) & FLASH_ACR_LATENCY) != wait_states) {
    }
}

static bool switch_to_pll(void)
{
    rcc_set_bits(RCC_CFGR, RCC_CFGR_SW_PLL);
    return rcc_wait_for(RCC_CFGR, RCC_CFGR_SWS, RCC_CFGR_SWS);
}

struct stm32_clocks stm32_clocks_fast(void)
{
    rcc_set_bits(RCC_APB1ENR1, RCC_APB1_PWR);
    mmio_write(BOARD_PWR_BASE, PWR_CR5, mmio_read(BOARD_PWR_BASE, PWR_CR5) & ~PWR_CR5_R1MODE);
    if (!start_pll(PLL_N_120_MHZ)) {
        return (struct stm32_clocks){0, 0};
    }
    set_flash(STM32L4_PREFETCH | STM32L4_CACHES, WAIT_STATES_120_MHZ);
    rcc_set_bits(RCC_CFGR, RCC_CFGR_HPRE_2);
    if (!switch_to_pll()) {
        return (struct stm32_clocks){0, 0};
    }
    wait_a_microsecond();
    mmio_write(BOARD_RCC_BASE, RCC_CFGR, mmio_read(BOARD_RCC_BASE, RCC_CFGR) & ~RCC_CFGR_HPRE);
    return (struct stm32_clocks){FAST_HZ, FAST_HZ};
}

struct stm32_clocks stm32l4_clocks_80_mhz(uint32_t wait_states, uint32_t accelerators)
{
    if (!start_pll(PLL_N_80_MHZ)) {
        return (struct stm32_clocks){0, 0};
    }
    set_flash(accelerators, wait_states);
    if (!switch_to_pll()) {
        return (struct stm32_clocks){0, 0};
    }
    return (struct stm32_clocks){STM32L4_80_MHZ, STM32L4_80_MHZ};
}
