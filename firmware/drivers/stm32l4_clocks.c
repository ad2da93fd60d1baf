/* The clocks of an STM32L4+ at 120 MHz, from MSI of 4 MHz by the PLL (RM0432, "PLL"; "Dynamic voltage scaling
 * management": boost mode, and half of SYSCLK for a microsecond; "Read access latency"). */
#include "armv7m.h"
#include "board.h"
#include "mmio.h"
#include "stm32_board.h"
#include "stm32l4_rcc.h"

#define FLASH_ACR 0x00u
/* Prefetch, instruction cache, data cache. */
#define FLASH_ACR_ACCELERATED (7u << 8)
#define FLASH_ACR_LATENCY 0xFu
#define WAIT_STATES_120_MHZ 5u

#define PWR_CR5 0x80u
#define PWR_CR5_R1MODE (1u << 8)

#define PLL_N 60u
#define FAST_HZ 120000000u

static void wait_a_microsecond(void)
{
    uint32_t start = armv7m_cycles();

    while (armv7m_cycles() - start < FAST_HZ / 2000000u) {
    }
}

struct stm32_clocks stm32_clocks_fast(void)
{
    rcc_set_bits(RCC_APB1ENR1, RCC_APB1_PWR);
    mmio_write(BOARD_PWR_BASE, PWR_CR5, mmio_read(BOARD_PWR_BASE, PWR_CR5) & ~PWR_CR5_R1MODE);
    mmio_write(BOARD_RCC_BASE, RCC_PLLCFGR, RCC_PLLCFGR_MSI | PLL_N << 8 | RCC_PLLCFGR_REN);
    rcc_set_bits(RCC_CR, RCC_CR_PLLON);
    if (!rcc_wait_for(RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY)) {
        return (struct stm32_clocks){0, 0};
    }
    mmio_write(BOARD_FLASH_BASE, FLASH_ACR, FLASH_ACR_ACCELERATED | WAIT_STATES_120_MHZ);
    while ((mmio_read(BOARD_FLASH_BASE, FLASH_ACR) & FLASH_ACR_LATENCY) != WAIT_STATES_120_MHZ) {
    }
    rcc_set_bits(RCC_CFGR, RCC_CFGR_HPRE_2);
    rcc_set_bits(RCC_CFGR, RCC_CFGR_SW_PLL);
    if (!rcc_wait_for(RCC_CFGR, RCC_CFGR_SWS, RCC_CFGR_SWS)) {
        return (struct stm32_clocks){0, 0};
    }
    wait_a_microsecond();
    mmio_write(BOARD_RCC_BASE, RCC_CFGR, mmio_read(BOARD_RCC_BASE, RCC_CFGR) & ~RCC_CFGR_HPRE);
    return (struct stm32_clocks){FAST_HZ, FAST_HZ};
}
