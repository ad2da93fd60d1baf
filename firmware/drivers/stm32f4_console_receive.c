/* Input by USART2 of an STM32F4 (RM0090, USART registers). */
#include "board.h"
#include "console_input.h"
#include "mmio.h"
#include "stm32f4_usart.h"

/* The read of USART_SR followed by that of USART_DR clears an overrun, too. */
int console_uart_get(void)
{
    if (mmio_read(BOARD_USART2_BASE, USART_SR) & (USART_SR_RXNE | USART_SR_ORE)) {
        return (int)(mmio_read(BOARD_USART2_BASE, USART_DR) & 0xFFu);
    }
    return -1;
}
