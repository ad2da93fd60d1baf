/* Prints after it has switched the UART off. */
#include "board.h"
#include "console.h"
#include "mmio.h"

#define UART_UFCR 0x08u

int main(void)
{
    console_print("on\n");
    console_flush();
    mmio_write(BOARD_UART0_BASE, UART_UFCR, 0);
    mmio_write(BOARD_UART0_BASE, 0, 'x');
    return 0;
}
