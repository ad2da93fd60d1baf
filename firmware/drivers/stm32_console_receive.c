/* Input by a USART of the STM32MP157 or the STM32L4+, or an LPUART (RM0436 and RM0432, USART and LPUART registers). */
#include "board.h"
#include "console_input.h"
#include "mmio.h"
#include "stm32_usart.h"

#define USART_RDR 0x24u

#define USART_ICR_ORECF (1u << 3)
#define USART_ISR_ORE (1u << 3)
#define USART_ISR_RXNE (1u << 5)

int console_uart_get(void)
{
    uint32_t status = mmio_read(BOARD_CONSOLE_BASE, USART_ISR);

    if (status & USART_ISR_ORE) {
        mmio_write(BOARD_CONSOLE_BASE, USART_ICR, USART_ICR_ORECF);
    }
    return status & USART_ISR_RXNE ? (int)(mmio_read(BOARD_CONSOLE_BASE, USART_RDR) & 0xFFu) : -1;
}
