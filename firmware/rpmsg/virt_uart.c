#include "virt_uart.h"

#include "openamp.h"

/* Linux's driver rpmsg_tty binds to the first name; ST's, in its kernels up to 5.15, to the other. */
#ifdef APP_CHANNEL_RPMSG_TTY
#define CHANNEL "rpmsg-tty"
#else
#define CHANNEL "rpmsg-tty-channel"
#endif

static void received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    struct virt_uart *uart = endpoint->context;

    (void)src;
    uart->received = data;
    uart->received_bytes = bytes;
    if (uart->receive_complete) {
        uart->receive_complete(uart);
    }
}

int virt_uart_start(struct virt_uart *uart)
{
    uart->endpoint = (struct rpmsg_endpoint){.name = CHANNEL,
        .addr = RPMSG_ADDR_ANY,
        .dest = RPMSG_ADDR_ANY,
        .received = received,
        .context = uart};
    return rpmsg_remote_create_endpoint(&openamp_remote, &uart->endpoint);
}

int virt_uart_transmit(struct virt_uart *uart, const uint8_t *data, uint32_t bytes)
{
    return rpmsg_remote_send(&openamp_remote, &uart->endpoint, data, bytes);
}
