#include "stm32_log.h"

#include "board.h"
#include "console.h"
#include "stm32_rcc.h"
#include "stm32_uart_transmit.h"
#include "stm32_usart.h"

#include <stdbool.h>

/* As ST's board support has it for each character. */
#define POLL_TIMEOUT_MS 1000u

static struct uart_handle port = {.base = BOARD_UART7_BASE, .word_bits = 8};
static bool started;

void log_start(void)
{
    rcc_enable(RCC_CLOCK_UART7);
    usart_start(BOARD_UART7_BASE, BOARD_UART_HZ, APP_BAUD_RATE, USART_SAMPLES_8);
    started = true;
}

/* A call for each character: what the C library's port of a board support package looks like. */
__attribute__((noinline)) static int put_character(int character)
{
    uint8_t byte = (uint8_t)character;

    uart_transmit(&port, &byte, 1, POLL_TIMEOUT_MS);
    return character;
}

int stream_write(const char *text, int count)
{
    for (int i = 0; i < count; i++) {
        put_character(*text++);
    }
    return count;
}

/* For fault reports: the fault may have interrupted uart_transmit, or have come before the log was started. */
void console_uart_put(char character)
{
    if (!started) {
        log_start();
    }
    usart_put(BOARD_UART7_BASE, character);
}

void console_uart_flush(void)
{
    if (started) {
        usart_flush(BOARD_UART7_BASE);
    }
}
