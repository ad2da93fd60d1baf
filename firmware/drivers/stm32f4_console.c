/* The console of a board with an STM32F4: USART2 at PA2 and PA3 (RM0090, USART registers), polled. */
#include "board.h"
#include "console.h"
#include "mmio.h"
#include "stm32_board.h"
#include "stm32_gpio.h"
#include "stm32f4_rcc.h"
#include "stm32f4_usart.h"

#define USART_LIMIT_READS 1000000u
#define FUNCTION_USART2 7u

void stm32_console_start(uint32_t clock_hz)
{
    rcc_set_bits(RCC_AHB1ENR, RCC_AHB1_GPIOA);
    rcc_set_bits(RCC_APB1ENR, RCC_APB1_USART2);
    stm32_gpio_alternate(BOARD_GPIOA_BASE, 2, FUNCTION_USART2);
    stm32_gpio_alternate(BOARD_GPIOA_BASE, 3, FUNCTION_USART2);
    mmio_write(BOARD_USART2_BASE, USART_CR1, 0);
    mmio_write(BOARD_USART2_BASE, USART_CR2, 0);
    mmio_write(BOARD_USART2_BASE, USART_CR3, 0);
    mmio_write(BOARD_USART2_BASE, USART_BRR, (clock_hz + BOARD_UART_BAUD / 2) / BOARD_UART_BAUD);
    mmio_write(BOARD_USART2_BASE, USART_CR1, USART_CR1_UE | USART_CR1_TE | USART_CR1_RE);
}

static void wait_for(uint32_t flag)
{
    for (uint32_t reads = 0; reads < USART_LIMIT_READS; reads++) {
        if (mmio_read(BOARD_USART2_BASE, USART_SR) & flag) {
            return;
        }
    }
}

void console_uart_put(char character)
{
    wait_for(USART_SR_TXE);
    mmio_write(BOARD_USART2_BASE, USART_DR, (uint8_t)character);
}

void console_uart_flush(void)
{
    wait_for(USART_SR_TC);
}
