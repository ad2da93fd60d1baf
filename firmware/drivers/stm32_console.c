#include "stm32_console.h"

#include "board.h"
#include "console.h"
#include "stm32_rcc.h"
#include "stm32_usart.h"

void stm32_console_start(void)
{
    rcc_select(RCC_UART24CKSELR, RCC_UART_FROM_HSI);
    rcc_enable(RCC_CLOCK_UART4);
    usart_start(BOARD_UART4_BASE, BOARD_UART_HZ, BOARD_UART_BAUD, USART_SAMPLES_16);
}

void console_uart_put(char character)
{
    usart_put(BOARD_UART4_BASE, character);
}

void console_uart_flush(void)
{
    usart_flush(BOARD_UART4_BASE);
}
