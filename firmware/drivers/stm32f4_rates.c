/* Core clocks of an STM32F4 from HSE of 8 MHz by its PLL, and back to HSI (RM0090, "Reset and clock control"; "Embedded
 * Flash memory interface", increasing and decreasing the CPU frequency). */
#include "board.h"
#include "mmio.h"
#include "stm32_flash.h"
#include "stm32_rates.h"
#include "stm32f4_rcc.h"

#define PWR_CR 0x00u
/* HSE divided by BOARD_PLL_M: 1 MHz, times N, which is at most 432; 192 is the least. */
#define PLL_MOST_N 432u
#define RCC_CFGR_PPRE (0x3Fu << 10)

static bool start_pll(uint32_t mhz)
{
    uint32_t p = 8;

    while (p > 2 && (mhz * p > PLL_MOST_N || p == 6)) {
        p -= 2;
    }
    rcc_set_bits(RCC_CR, BOARD_HSE_IS_EXTERNAL ? RCC_CR_HSEBYP : 0);
    rcc_set_bits(RCC_CR, RCC_CR_HSEON);
    if (!rcc_wait_for(RCC_CR, RCC_CR_HSERDY, RCC_CR_HSERDY)) {
        return false;
    }
    mmio_write(BOARD_RCC_BASE, RCC_PLLCFGR,
        BOARD_PLL_M | mhz * p << 6 | (p / 2 - 1) << 16 | RCC_PLLCFGR_HSE | BOARD_PLL_Q << 24);
    rcc_set_bits(RCC_CR, RCC_CR_PLLON);
    return rcc_wait_for(RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
}

bool stm32_rate_set(struct stm32_rate rate)
{
    stm32_flash_set_latency(rate.wait_states);
    if (rate.mhz * 1000000u == BOARD_CORE_HZ) {
        return true;
    }
    rcc_set_bits(RCC_APB1ENR, RCC_APB1_PWR);
    mmio_write(BOARD_PWR_BASE, PWR_CR, mmio_read(BOARD_PWR_BASE, PWR_CR) | BOARD_VOS_BITS);
    if (!start_pll(rate.mhz)) {
        return false;
    }
    rcc_set_bits(RCC_CFGR, BOARD_FAST_PPRE);
    rcc_set_bits(RCC_CFGR, RCC_CFGR_SW_PLL);
    return rcc_wait_for(RCC_CFGR, RCC_CFGR_SWS, RCC_CFGR_SWS_PLL);
}

void stm32_rate_reset(void)
{
    rcc_clear_bits(RCC_CFGR, RCC_CFGR_SW);
    (void)rcc_wait_for(RCC_CFGR, RCC_CFGR_SWS, 0);
    rcc_clear_bits(RCC_CFGR, RCC_CFGR_PPRE);
    rcc_clear_bits(RCC_CR, RCC_CR_PLLON);
    (void)rcc_wait_for(RCC_CR, RCC_CR_PLLRDY, 0);
    stm32_flash_set_latency(0);
}
