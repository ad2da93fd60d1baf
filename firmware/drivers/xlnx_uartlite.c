/* AXI UART Lite (PG142 v2.0, register space): the console of Xilinx boards. Baud rate and format are fixed in
   the core's configuration. */
#include "board.h"
#include "clock.h"
#include "console.h"
#include "mmio.h"

#define UARTLITE_TX_FIFO 0x04u
#define UARTLITE_STAT 0x08u
#define UARTLITE_STAT_TX_EMPTY (1u << 2)
#define UARTLITE_STAT_TX_FULL (1u << 3)

/* Start, 8 data and stop bit. */
#define UARTLITE_CHARACTER_US (10u * 1000000u / BOARD_UARTLITE_BAUD + 1u)
/* A full FIFO (16) plus some: longer without a place means that the UART is stuck. */
#define UARTLITE_LIMIT_CHARACTERS 64u

void console_uart_put(char character)
{
    for (uint32_t waited = 0; mmio_read(BOARD_UARTLITE_BASE, UARTLITE_STAT) & UARTLITE_STAT_TX_FULL; waited++) {
        if (waited == UARTLITE_LIMIT_CHARACTERS) {
            return;
        }
        clock_sleep_us(UARTLITE_CHARACTER_US);
    }
    mmio_write(BOARD_UARTLITE_BASE, UARTLITE_TX_FIFO, (uint8_t)character);
}

void console_uart_flush(void)
{
    for (uint32_t waited = 0; !(mmio_read(BOARD_UARTLITE_BASE, UARTLITE_STAT) & UARTLITE_STAT_TX_EMPTY); waited++) {
        if (waited == UARTLITE_LIMIT_CHARACTERS) {
            return;
        }
        clock_sleep_us(UARTLITE_CHARACTER_US);
    }
    /* TX_EMPTY is the state of the FIFO; the last character is still on the wire. */
    clock_sleep_us(UARTLITE_CHARACTER_US);
}
