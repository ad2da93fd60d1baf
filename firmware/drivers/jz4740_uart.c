#include "jz4740_uart.h"

#include "board.h"
#include "console.h"
#include "jz4740_cgu.h"

#include <stdint.h>

#define UART_UTHR 0x00u
#define UART_UDLLR 0x00u
#define UART_UDLHR 0x04u
#define UART_UIER 0x04u
#define UART_UFCR 0x08u
#define UART_ULCR 0x0Cu
#define UART_UMCR 0x10u
#define UART_ULSR 0x14u
#define UART_ISR 0x20u

#define UFCR_FME (1u << 0)
#define UFCR_RFRT (1u << 1)
#define UFCR_TFRT (1u << 2)
/* Without it the whole UART is off, which a 16550 does not know. */
#define UFCR_UME (1u << 4)

#define ULCR_WLS_8 (3u << 0)
#define ULCR_DLAB (1u << 7)

#define ULSR_TDRQ (1u << 5)
#define ULSR_TEMP (1u << 6)

/* Rounded. */
#define UART_DIVIDER ((BOARD_EXTAL_HZ + 8u * BOARD_UART_BAUD) / (16u * BOARD_UART_BAUD))

#define UART_LIMIT_READS 1000000u

static volatile uint8_t *uart_register(uint32_t offset)
{
    return (volatile uint8_t *)(BOARD_UART0_BASE + offset);
}

static void uart_write(uint32_t offset, uint32_t value)
{
    *uart_register(offset) = (uint8_t)value;
}

void uart_start(void)
{
    cgu_start_clock(CGU_UART0);
    uart_write(UART_UIER, 0);
    uart_write(UART_UFCR, 0);
    uart_write(UART_ISR, 0);
    uart_write(UART_UMCR, 0);
    uart_write(UART_ULCR, ULCR_WLS_8 | ULCR_DLAB);
    uart_write(UART_UDLLR, UART_DIVIDER & 0xFFu);
    uart_write(UART_UDLHR, UART_DIVIDER >> 8);
    uart_write(UART_ULCR, ULCR_WLS_8);
    uart_write(UART_UFCR, UFCR_UME | UFCR_FME | UFCR_RFRT | UFCR_TFRT);
}

static void wait_for(uint32_t mask)
{
    for (uint32_t reads = 0; reads < UART_LIMIT_READS; reads++) {
        if (*uart_register(UART_ULSR) & mask) {
            return;
        }
    }
}

void console_uart_put(char character)
{
    wait_for(ULSR_TDRQ);
    uart_write(UART_UTHR, (uint8_t)character);
}

void console_uart_flush(void)
{
    wait_for(ULSR_TEMP);
}
