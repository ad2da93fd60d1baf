/* RCC of an STM32L4+ (RM0432, RCC registers). */
#ifndef STM32L4_RCC_H
#define STM32L4_RCC_H

#include "board.h"
#include "mmio.h"

#include <stdbool.h>
#include <stdint.h>

#define RCC_LIMIT_READS 1000000u

#define RCC_CR 0x00u
#define RCC_CFGR 0x08u
#define RCC_PLLCFGR 0x0Cu
#define RCC_AHB2ENR 0x4Cu
#define RCC_APB1ENR1 0x58u
#define RCC_APB1ENR2 0x5Cu

#define RCC_CR_PLLON (1u << 24)
#define RCC_CR_PLLRDY (1u << 25)
#define RCC_PLLCFGR_MSI 1u
#define RCC_PLLCFGR_REN (1u << 24)
#define RCC_CFGR_SW_PLL 3u
#define RCC_CFGR_SWS (3u << 2)
#define RCC_CFGR_HPRE (0xFu << 4)
#define RCC_CFGR_HPRE_2 (8u << 4)

#define RCC_AHB2_GPIOG (1u << 6)
#define RCC_APB1_PWR (1u << 28)
#define RCC_APB1_LPUART1 (1u << 0)

/* Sets bits; the read behind it gives an enabled peripheral its two clocks (RM0432, "Peripheral clock enable"). */
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
