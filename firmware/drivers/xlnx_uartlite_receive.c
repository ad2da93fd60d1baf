/* Input by AXI UART Lite (PG142 v2.0, register space). */
#include "board.h"
#include "console_input.h"
#include "mmio.h"

#define UARTLITE_RX_FIFO 0x00u
#define UARTLITE_STAT 0x08u
#define UARTLITE_STAT_RX_VALID (1u << 0)

int console_uart_get(void)
{
    if (!(mmio_read(BOARD_UARTLITE_BASE, UARTLITE_STAT) & UARTLITE_STAT_RX_VALID)) {
        return -1;
    }
    return (int)(mmio_read(BOARD_UARTLITE_BASE, UARTLITE_RX_FIFO) & 0xFFu);
}
