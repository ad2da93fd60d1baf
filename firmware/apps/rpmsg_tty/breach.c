#include "breach.h"

#include "stm32_rproc.h"

#if !APP_FAULT_SIDE_A7 || APP_FAULT_NONE
static void break_link(struct tty *tty)
{
    (void)tty;
}
#elif APP_FAULT_VRING_INDEX
/* Far more buffers than the ring has. */
static void break_link(struct tty *tty)
{
    struct virtqueue_driver *queue = &tty->host->tx;

    queue->vring.avail->idx = (uint16_t)(queue->avail_idx + 40000u);
    queue->notify(queue);
}
#elif APP_FAULT_LENGTH
/* A descriptor that is longer than its buffer. */
static void break_link(struct tty *tty)
{
    struct rpmsg_host *host = tty->host;

    virtqueue_add(&host->tx, (uintptr_t)host->tx_buffers, host->buffer_bytes + 88u, false, host->tx_buffers);
    virtqueue_kick(&host->tx);
}
#elif APP_FAULT_ENDPOINT
/* A message for an address that the M4 does not have. */
static void break_link(struct tty *tty)
{
    struct rpmsg_endpoint lost = tty->endpoint;

    lost.dest = 0x77u;
    rpmsg_host_send(tty->host, &lost, "lost", 4);
}
#elif APP_FAULT_MAILBOX
static void break_link(struct tty *tty)
{
    (void)tty;
    stm32_rproc_stop_acknowledging();
}
#endif

void breach_after_block(struct tty *tty, uint32_t block)
{
    if (block == 0) {
        break_link(tty);
    }
}
