/* Sending over a UART as STM32Cube's HAL does it (stm32mp1xx_hal_uart.c, HAL_UART_Transmit): a handle with a lock and a
 * state, waits that look at the tick, and the way back only when the last bit is on the line. What a character costs a
 * program that calls it for each is this structure. */
#ifndef STM32_UART_TRANSMIT_H
#define STM32_UART_TRANSMIT_H

#include <stdint.h>

enum uart_state { UART_READY, UART_SENDING };

struct uart_handle {
    uintptr_t base;
    uint32_t word_bits;
    uint32_t parity;
    uint16_t size;
    volatile uint16_t left;
    volatile uint8_t locked;
    volatile enum uart_state state;
    volatile uint32_t error;
};

/* A time-out that never comes, in milliseconds. */
#define UART_WAIT_FOREVER UINT32_MAX

/* Sends characters of 8 bits, or of 9, two bytes each. Returns 0, ERROR_BUSY while another call is sending, or
 * ERROR_TIMEOUT. */
int uart_transmit(struct uart_handle *uart, const uint8_t *data, uint16_t count, uint32_t timeout_ms);

#endif
