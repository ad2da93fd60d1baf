/* RCC of an STM32F4 (RM0090, RCC registers). */
#ifndef STM32F4_RCC_H
#define STM32F4_RCC_H

#include "board.h"
#include "mmio.h"

#include <stdbool.h>
#include <stdint.h>

#define RCC_LIMIT_READS 1000000u

#define RCC_CR 0x00u
#define RCC_PLLCFGR 0x04u
#define RCC_CFGR 0x08u
#define RCC_AHB1ENR 0x30u
#define RCC_APB1ENR 0x40u

#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)
#define RCC_CR_HSEBYP (1u << 18)
#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_PLLCFGR_HSE (1u << 22)
#define RCC_CFGR_SW_PLL 2u
#define RCC_CFGR_SW 3u
#define RCC_CFGR_SWS_PLL (2u << 2)
#define RCC_CFGR_SWS (3u << 2)

#define RCC_AHB1_GPIOA (1u << 0)
#define RCC_APB1_USART2 (1u << 17)
#define RCC_APB1_PWR (1u << 28)

/* Sets bits; the read behind it gives an enabled peripheral its two clocks (RM0090, RCC_AHB1ENR). */
static inline void rcc_set_bits(uint32_t offset, uint32_t bits)
{
    mmio_write(BOARD_RCC_BASE, offset, mmio_read(BOARD_RCC_BASE, offset) | bits);
    (void)mmio_read(BOARD_RCC_BASE, offset);
}

static inline void rcc_clear_bits(uint32_t offset, uint32_t bits)
{
    mmio_write(BOARD_RCC_BASE, offset, mmio_read(BOARD_RCC_BASE, offset) & ~bits);
}

/* Waits until the bits of `mask` are `value`. False if they never are. */
static inline bool rcc_wait_for(uint32_t offset, uint32_t mask, uint32_t value)
{
    for (uint32_t reads = 0; reads < RCC_LIMIT_READS; reads++) {
        if ((mmio_read(BOARD_RCC_BASE, offset) & mask) == value) {
            return true;
        }
    }
    return false;
}

#endif
