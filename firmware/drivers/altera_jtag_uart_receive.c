/* Input by the JTAG UART core (Embedded Peripherals IP User Guide, JTAG UART Core, Data Register). */
#include "board.h"
#include "console_input.h"
#include "mmio.h"

#define JTAG_UART_DATA 0x0u
#define JTAG_UART_DATA_RVALID (1u << 15)

int console_uart_get(void)
{
    uint32_t data = mmio_read(BOARD_JTAG_UART_BASE, JTAG_UART_DATA);

    return data & JTAG_UART_DATA_RVALID ? (int)(data & 0xFFu) : -1;
}
