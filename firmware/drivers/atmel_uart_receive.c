/* Input by the UART of the SAMA5D2 (data sheet, chapter Universal Asynchronous Receiver Transmitter). */
#include "board.h"
#include "console_input.h"
#include "mmio.h"

#define UART_SR 0x14u
#define UART_RHR 0x18u

#define SR_RXRDY (1u << 0)

int console_uart_get(void)
{
    if (!(mmio_read(BOARD_UART_BASE, UART_SR) & SR_RXRDY)) {
        return -1;
    }
    return (int)(mmio_read(BOARD_UART_BASE, UART_RHR) & 0xFFu);
}
