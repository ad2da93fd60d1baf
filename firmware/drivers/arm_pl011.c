/* PrimeCell UART PL011 (Arm DDI 0183): the console of QEMU's Arm virt machine, where any line setting will do. */
#include "board.h"
#include "console.h"
#include "mmio.h"

#define UARTDR 0x00u
#define UARTFR 0x18u
#define UARTFR_BUSY (1u << 3)
#define UARTFR_TXFF (1u << 5)

#define PL011_LIMIT_READS 1000000u

static void wait_while(uint32_t mask)
{
    for (uint32_t reads = 0; reads < PL011_LIMIT_READS; reads++) {
        if (!(mmio_read(BOARD_PL011_BASE, UARTFR) & mask)) {
            return;
        }
    }
}

void console_uart_put(char character)
{
    wait_while(UARTFR_TXFF);
    mmio_write(BOARD_PL011_BASE, UARTDR, (uint8_t)character);
}

void console_uart_flush(void)
{
    wait_while(UARTFR_BUSY);
}
