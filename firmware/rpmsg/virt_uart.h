/* A UART over an RPMsg channel, the M4's end of Linux's ttyRPMSG (STM32Cube, virt_uart.c). */
#ifndef VIRT_UART_H
#define VIRT_UART_H

#include <stdint.h>

#include "rpmsg.h"

struct virt_uart {
    struct rpmsg_endpoint endpoint;
    uint8_t *received; /* the last message, which its callback may change */
    uint32_t received_bytes;
    /* A message has come; its buffer is the host's again when this returns. */
    void (*receive_complete)(struct virt_uart *uart);
};

/* Makes the channel "rpmsg-tty-channel" and announces it. 0 or an rpmsg_error. */
int virt_uart_start(struct virt_uart *uart);

/* Sends up to a buffer's payload. 0 or an rpmsg_error. */
int virt_uart_transmit(struct virt_uart *uart, const uint8_t *data, uint32_t bytes);

#endif
