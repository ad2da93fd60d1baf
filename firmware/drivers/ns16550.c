/* 16550 UART: the console of QEMU's virt machine, byte-wide registers. QEMU takes any line setting. */
#include "board.h"
#include "console.h"

#include <stdint.h>

#define NS16550_THR 0u
#define NS16550_LSR 5u
#define NS16550_LSR_THRE (1u << 5)
#define NS16550_LSR_TEMT (1u << 6)
#define NS16550_LIMIT_READS 1000000u

static volatile uint8_t *ns16550_register(uint32_t offset)
{
    return (volatile uint8_t *)(BOARD_NS16550_BASE + offset);
}

static void ns16550_wait(uint32_t mask)
{
    for (uint32_t reads = 0; reads < NS16550_LIMIT_READS; reads++) {
        if (*ns16550_register(NS16550_LSR) & mask) {
            return;
        }
    }
}

void console_uart_put(char character)
{
    ns16550_wait(NS16550_LSR_THRE);
    *ns16550_register(NS16550_THR) = (uint8_t)character;
}

void console_uart_flush(void)
{
    ns16550_wait(NS16550_LSR_TEMT);
}
