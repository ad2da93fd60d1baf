/* USART2 of an STM32L4R5 by HSI16, which is off at first: nothing is sent before it runs. Then USART2 is reset, and a
 * byte is stored in one of its registers. The status is the first step that went wrong. */
#include <stdint.h>

#include "board.h"
#include "mmio.h"
#include "stm32_gpio.h"

#define USART2_BASE 0x40004400u
#define USART_CR1 0x00u
#define USART_BRR 0x0cu
#define USART_ISR 0x1cu
#define USART_TDR 0x28u
#define CR1_UE_TE (1u << 0 | 1u << 3)
#define ISR_TC (1u << 6)
#define RCC_CR 0x00u
#define RCC_APB1RSTR1 0x38u
#define RCC_APB1ENR1 0x58u
#define RCC_CCIPR 0x88u
#define RCC_USART2 (1u << 17)
#define LOOKS 20000u

static void set_bits(uint32_t offset, uint32_t bits)
{
    mmio_write(BOARD_RCC_BASE, offset, mmio_read(BOARD_RCC_BASE, offset) | bits);
}

static uint32_t is_sent(void)
{
    for (uint32_t look = 0; look < LOOKS; look++) {
        if (mmio_read(USART2_BASE, USART_ISR) & ISR_TC) {
            return 1;
        }
    }
    return 0;
}

int main(void)
{
    /* PA2, whose port is on. */
    set_bits(0x4cu, 1u);
    stm32_gpio_alternate(0x48000000u, 2, 7);
    set_bits(RCC_APB1ENR1, RCC_USART2);
    mmio_write(BOARD_RCC_BASE, RCC_CCIPR, 2u << 2);
    mmio_write(USART2_BASE, USART_BRR, 16000000u / 115200u);
    mmio_write(USART2_BASE, USART_CR1, CR1_UE_TE);
    mmio_write(USART2_BASE, USART_TDR, 'x');
    if (is_sent()) {
        return 1;
    }
    set_bits(RCC_CR, 1u << 8);
    if (!is_sent()) {
        return 2;
    }
    mmio_write(BOARD_RCC_BASE, RCC_APB1RSTR1, RCC_USART2);
    if (mmio_read(USART2_BASE, USART_CR1) | mmio_read(USART2_BASE, USART_BRR)) {
        return 3;
    }
    mmio_write(BOARD_RCC_BASE, RCC_APB1RSTR1, 0);
    *(volatile uint8_t *)(USART2_BASE + USART_CR1) = 1u << 2;
    return mmio_read(USART2_BASE, USART_CR1) == 0x04040404u ? 0 : 4;
}
