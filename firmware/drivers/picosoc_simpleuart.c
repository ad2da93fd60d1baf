/* PicoSoC's serial port (picosoc/simpleuart.v of YosysHQ/picorv32): a write of a byte waits until the sender is free,
   so there is nothing to poll, and no way to learn when the last byte has left. */
#include "board.h"
#include "console.h"
#include "mmio.h"

#define SIMPLEUART_DIV 0u
#define SIMPLEUART_DAT 4u

/* A bit takes the divider + 2 clocks. */
#define SIMPLEUART_DIVIDER (BOARD_CLOCK_HZ / BOARD_SIMPLEUART_BAUD - 2u)

void console_uart_put(char character)
{
    /* Each write of the divider sends 15 idle bits. */
    if (mmio_read(BOARD_SIMPLEUART_BASE, SIMPLEUART_DIV) != SIMPLEUART_DIVIDER) {
        mmio_write(BOARD_SIMPLEUART_BASE, SIMPLEUART_DIV, SIMPLEUART_DIVIDER);
    }
    mmio_write(BOARD_SIMPLEUART_BASE, SIMPLEUART_DAT, (uint8_t)character);
}

void console_uart_flush(void)
{
}
