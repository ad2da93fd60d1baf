/* Bits of the registers of an RCC of the STM32F4 and the STM32L4+. */
#ifndef STM32_RCC_BITS_H
#define STM32_RCC_BITS_H

#include "board.h"
#include "mmio.h"

#include <stdbool.h>
#include <stdint.h>

#define RCC_LIMIT_READS 1000000u

/* Sets bits; the read after it gives an enabled peripheral its two clocks (RM0090, RCC_AHB1ENR; RM0432, "Peripheral
 * clock enable"). */
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
