/* JTAG UART core (Embedded Peripherals IP User Guide): the console of Nios boards. */
#include "board.h"
#include "console.h"
#include "mmio.h"

#define JTAG_UART_DATA 0x0u
#define JTAG_UART_CONTROL 0x4u
/* Free places of the write FIFO. */
#define JTAG_UART_CONTROL_WSPACE_SHIFT 16

#define JTAG_UART_FIFO_CHARACTERS 64u

/* A host that takes no character during this many reads of the control register is absent: no further character waits
   for it, until it takes one again. */
#define JTAG_UART_LIMIT_READS 1000000u

static int host_is_away;

static uint32_t space(void)
{
    return mmio_read(BOARD_JTAG_UART_BASE, JTAG_UART_CONTROL) >> JTAG_UART_CONTROL_WSPACE_SHIFT;
}

/* True once the FIFO has this many free places; false if the host takes too long. */
static int wait_for_space(uint32_t places)
{
    for (uint32_t reads = host_is_away ? 1 : JTAG_UART_LIMIT_READS; reads; reads--) {
        if (space() >= places) {
            host_is_away = 0;
            return 1;
        }
    }
    host_is_away = 1;
    return 0;
}

void console_uart_put(char character)
{
    if (wait_for_space(1)) {
        mmio_write(BOARD_JTAG_UART_BASE, JTAG_UART_DATA, (uint8_t)character);
    }
}

void console_uart_flush(void)
{
    wait_for_space(JTAG_UART_FIFO_CHARACTERS);
}
