/* Input by the UART of the JZ4740 (programming manual, chapter UART Interface). */
#include "board.h"
#include "console_input.h"

#include <stdint.h>

#define UART_URBR 0x00u
#define UART_ULSR 0x14u

#define ULSR_DR (1u << 0)

static uint8_t uart_read(uint32_t offset)
{
    return *(volatile uint8_t *)(BOARD_UART0_BASE + offset);
}

int console_uart_get(void)
{
    return uart_read(UART_ULSR) & ULSR_DR ? uart_read(UART_URBR) : -1;
}
