/* Core clocks of an STM32L4+ from MSI of 4 MHz by its PLL, and back (RM0432, "PLL"; "Dynamic voltage scaling
 * management": boost mode, and half of SYSCLK for a microsecond; "Read access latency"). */
#include "armv7m.h"
#include "board.h"
#include "mmio.h"
#include "stm32_flash.h"
#include "stm32_rates.h"
#include "stm32l4_rcc.h"

#define PWR_CR5 0x80u
#define PWR_CR5_R1MODE (1u << 8)
#define MSI_MHZ 4u
/* Of the PLL's oscillator, in MHz. */
#define PLL_MOST_MHZ 344u

static bool start_pll(uint32_t mhz)
{
    uint32_t r = 8;

    while (r > 2 && mhz * r > PLL_MOST_MHZ) {
        r -= 2;
    }
    mmio_write(BOARD_RCC_BASE, RCC_PLLCFGR,
        RCC_PLLCFGR_MSI | mhz * r / MSI_MHZ << 8 | RCC_PLLCFGR_REN | (r / 2 - 1) << 25);
    rcc_set_bits(RCC_CR, RCC_CR_PLLON);
    return rcc_wait_for(RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
}

static void wait_a_microsecond(uint32_t mhz)
{
    uint32_t start = armv7m_cycles();

    while (armv7m_cycles() - start < mhz / 2) {
    }
}

bool stm32_rate_set(struct stm32_rate rate)
{
    stm32_flash_set_latency(rate.wait_states);
    if (rate.mhz * 1000000u == BOARD_CORE_HZ) {
        return true;
    }
    rcc_set_bits(RCC_APB1ENR1, RCC_APB1_PWR);
    mmio_write(BOARD_PWR_BASE, PWR_CR5, mmio_read(BOARD_PWR_BASE, PWR_CR5) & ~PWR_CR5_R1MODE);
    if (!start_pll(rate.mhz)) {
        return false;
    }
    rcc_set_bits(RCC_CFGR, RCC_CFGR_HPRE_2);
    rcc_set_bits(RCC_CFGR, RCC_CFGR_SW_PLL);
    if (!rcc_wait_for(RCC_CFGR, RCC_CFGR_SWS, RCC_CFGR_SWS)) {
        return false;
    }
    wait_a_microsecond(rate.mhz);
    rcc_clear_bits(RCC_CFGR, RCC_CFGR_HPRE);
    return true;
}

void stm32_rate_reset(void)
{
    /* Both switches go through half of SYSCLK. */
    rcc_set_bits(RCC_CFGR, RCC_CFGR_HPRE_2);
    rcc_clear_bits(RCC_CFGR, RCC_CFGR_SW_PLL);
    (void)rcc_wait_for(RCC_CFGR, RCC_CFGR_SWS, 0);
    rcc_clear_bits(RCC_CFGR, RCC_CFGR_HPRE);
    rcc_clear_bits(RCC_CR, RCC_CR_PLLON);
    (void)rcc_wait_for(RCC_CR, RCC_CR_PLLRDY, 0);
    stm32_flash_set_latency(0);
}
