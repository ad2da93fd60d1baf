#include "stm32_uart_transmit.h"

#include "error.h"
#include "mmio.h"
#include "stm32_usart.h"
#include "systick.h"

#include <stdbool.h>

#define RECEIVER_INTERRUPTS (USART_CR1_RXNEIE | USART_CR1_PEIE | USART_CR1_TXEIE)

/* A wait came to no end: no interrupt of this transfer may come any more. */
static int give_up(struct uart_handle *uart)
{
    mmio_write(uart->base, USART_CR1, mmio_read(uart->base, USART_CR1) & ~RECEIVER_INTERRUPTS);
    mmio_write(uart->base, USART_CR3, mmio_read(uart->base, USART_CR3) & ~USART_CR3_EIE);
    uart->state = UART_READY;
    uart->locked = 0;
    return ERROR_TIMEOUT;
}

/* A call of its own, as in the HAL: each round reads the flag, the tick, and whether the receiver has been silent for
 * too long. */
__attribute__((noinline)) static int wait_for(
    struct uart_handle *uart, uint32_t flag, uint32_t start_ms, uint32_t timeout_ms)
{
    while (!(mmio_read(uart->base, USART_ISR) & flag)) {
        if (timeout_ms == UART_WAIT_FOREVER) {
            continue;
        }
        if (systick_ms() - start_ms > timeout_ms || timeout_ms == 0) {
            return give_up(uart);
        }
        if (mmio_read(uart->base, USART_CR1) & USART_CR1_RE && mmio_read(uart->base, USART_ISR) & USART_ISR_RTOF) {
            mmio_write(uart->base, USART_ICR, USART_ISR_RTOF);
            return give_up(uart);
        }
    }
    return 0;
}

int uart_transmit(struct uart_handle *uart, const uint8_t *data, uint16_t count, uint32_t timeout_ms)
{
    if (uart->state != UART_READY) {
        return ERROR_BUSY;
    }
    if (!data || !count) {
        return ERROR_INVALID;
    }
    if (uart->locked) {
        return ERROR_BUSY;
    }
    uart->locked = 1;
    uart->error = 0;
    uart->state = UART_SENDING;
    uint32_t start_ms = systick_ms();
    uart->size = count;
    uart->left = count;
    bool wide = uart->word_bits == 9 && !uart->parity;
    uart->locked = 0;

    while (uart->left > 0) {
        int error = wait_for(uart, USART_ISR_TXE, start_ms, timeout_ms);
        if (error) {
            return error;
        }
        if (wide) {
            mmio_write(uart->base, USART_TDR, (uint32_t)(data[0] | data[1] << 8) & 0x1FFu);
            data += 2;
        } else {
            mmio_write(uart->base, USART_TDR, *data++);
        }
        uart->left--;
    }
    int error = wait_for(uart, USART_ISR_TC, start_ms, timeout_ms);
    if (error) {
        return error;
    }
    uart->state = UART_READY;
    return 0;
}
