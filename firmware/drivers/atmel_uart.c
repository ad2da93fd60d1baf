#include "atmel_uart.h"

#include "atmel_pio4.h"
#include "atmel_pmc.h"
#include "board.h"
#include "console.h"
#include "mmio.h"

#define UART_CR 0x00u
#define UART_MR 0x04u
#define UART_SR 0x14u
#define UART_THR 0x1Cu
#define UART_BRGR 0x20u

#define CR_RSTRX (1u << 2)
#define CR_RSTTX (1u << 3)
#define CR_RXEN (1u << 4)
#define CR_TXEN (1u << 6)

#define MR_PAR_NO (4u << 9)

#define SR_TXRDY (1u << 1)
#define SR_TXEMPTY (1u << 9)

/* Rounded: 83 MHz / 16 / 45 is 0.07 % above 115200. */
#define UART_DIVIDER ((BOARD_PERIPHERAL_HZ + 8u * BOARD_UART_BAUD) / (16u * BOARD_UART_BAUD))

#define UART_LIMIT_READS 1000000u

void uart_start(void)
{
    pmc_enable_peripheral(BOARD_ID_PIO);
    pio_select(PIO_D, 3u << 2, PIO_FUNCTION_A);
    pmc_enable_peripheral(BOARD_ID_UART);
    mmio_write(BOARD_UART_BASE, UART_CR, CR_RSTTX | CR_RSTRX);
    mmio_write(BOARD_UART_BASE, UART_MR, MR_PAR_NO);
    mmio_write(BOARD_UART_BASE, UART_BRGR, UART_DIVIDER);
    mmio_write(BOARD_UART_BASE, UART_CR, CR_TXEN | CR_RXEN);
}

static void wait_for(uint32_t mask)
{
    for (uint32_t reads = 0; reads < UART_LIMIT_READS; reads++) {
        if (mmio_read(BOARD_UART_BASE, UART_SR) & mask) {
            return;
        }
    }
}

void console_uart_put(char character)
{
    wait_for(SR_TXRDY);
    mmio_write(BOARD_UART_BASE, UART_THR, (uint8_t)character);
}

void console_uart_flush(void)
{
    wait_for(SR_TXEMPTY);
}
