/* The console of a NUCLEO-L4R5ZI: LPUART1 at PG7 and PG8, which have a supply of their own (RM0432, LPUART registers;
 * PWR_CR2.IOSV), polled. */
#include "board.h"
#include "console.h"
#include "mmio.h"
#include "stm32_board.h"
#include "stm32_gpio.h"
#include "stm32_usart.h"
#include "stm32l4_rcc.h"

#define FUNCTION_LPUART1 8u
#define PWR_CR2 0x04u
#define PWR_CR2_IOSV (1u << 9)

void stm32_console_start(uint32_t clock_hz)
{
    rcc_set_bits(RCC_APB1ENR1, RCC_APB1_PWR);
    mmio_write(BOARD_PWR_BASE, PWR_CR2, mmio_read(BOARD_PWR_BASE, PWR_CR2) | PWR_CR2_IOSV);
    rcc_set_bits(RCC_AHB2ENR, RCC_AHB2_GPIOG);
    rcc_set_bits(RCC_APB1ENR2, RCC_APB1_LPUART1);
    stm32_gpio_alternate(BOARD_GPIOG_BASE, 7, FUNCTION_LPUART1);
    stm32_gpio_alternate(BOARD_GPIOG_BASE, 8, FUNCTION_LPUART1);
    mmio_write(BOARD_LPUART1_BASE, USART_CR1, 0);
    mmio_write(BOARD_LPUART1_BASE, USART_CR2, 0);
    mmio_write(BOARD_LPUART1_BASE, USART_CR3, 0);
    /* 256ths of a clock a bit. */
    uint64_t clocks_256 = (256ull * clock_hz + BOARD_UART_BAUD / 2) / BOARD_UART_BAUD;
    mmio_write(BOARD_LPUART1_BASE, USART_BRR, (uint32_t)clocks_256);
    mmio_write(BOARD_LPUART1_BASE, USART_CR1, USART_CR1_UE | USART_CR1_TE | USART_CR1_RE);
}

void console_uart_put(char character)
{
    usart_put(BOARD_LPUART1_BASE, character);
}

void console_uart_flush(void)
{
    usart_flush(BOARD_LPUART1_BASE);
}
