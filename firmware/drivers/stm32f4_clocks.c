/* The clocks of an STM32F4 from HSE by its PLL (RM0090, "PLL configuration"; "Power controller"; "Embedded Flash
 * memory interface", relation between CPU clock frequency and Flash memory read time). */
#include "board.h"
#include "mmio.h"
#include "stm32_board.h"
#include "stm32f4_rcc.h"

#define FLASH_ACR 0x00u
/* Prefetch, instruction cache, data cache. */
#define FLASH_ACR_ACCELERATED (7u << 8)
#define FLASH_ACR_LATENCY 0xFu

#define PWR_CR 0x00u
#define PWR_CR_VOS (3u << 14)

static bool start_pll(void)
{
    rcc_set_bits(RCC_CR, BOARD_HSE_IS_EXTERNAL ? RCC_CR_HSEBYP : 0);
    rcc_set_bits(RCC_CR, RCC_CR_HSEON);
    if (!rcc_wait_for(RCC_CR, RCC_CR_HSERDY, RCC_CR_HSERDY)) {
        return false;
    }
    mmio_write(BOARD_RCC_BASE, RCC_PLLCFGR,
        BOARD_PLL_M | BOARD_PLL_N << 6 | (BOARD_PLL_P / 2 - 1) << 16 | RCC_PLLCFGR_HSE | BOARD_PLL_Q << 24);
    rcc_set_bits(RCC_CR, RCC_CR_PLLON);
    return rcc_wait_for(RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY);
}

struct stm32_clocks stm32_clocks_fast(void)
{
    rcc_set_bits(RCC_APB1ENR, RCC_APB1_PWR);
    mmio_write(BOARD_PWR_BASE, PWR_CR, mmio_read(BOARD_PWR_BASE, PWR_CR) | (PWR_CR_VOS & BOARD_VOS_BITS));
    if (!start_pll()) {
        return (struct stm32_clocks){0, 0};
    }
    mmio_write(BOARD_FLASH_BASE, FLASH_ACR, FLASH_ACR_ACCELERATED | BOARD_FAST_WAIT_STATES);
    while ((mmio_read(BOARD_FLASH_BASE, FLASH_ACR) & FLASH_ACR_LATENCY) != BOARD_FAST_WAIT_STATES) {
    }
    rcc_set_bits(RCC_CFGR, BOARD_FAST_PPRE);
    rcc_set_bits(RCC_CFGR, RCC_CFGR_SW_PLL);
    if (!rcc_wait_for(RCC_CFGR, RCC_CFGR_SWS, RCC_CFGR_SWS_PLL)) {
        return (struct stm32_clocks){0, 0};
    }
    return (struct stm32_clocks){BOARD_FAST_HZ, BOARD_FAST_UART_HZ};
}
