#include "breach.h"

#include "openamp.h"

#if !APP_FAULT_SIDE_M4 || APP_FAULT_NONE
static void break_link(struct rpmsg_endpoint *endpoint)
{
    (void)endpoint;
}
#elif APP_FAULT_VRING_INDEX
/* Far more buffers than the ring has. */
static void break_link(struct rpmsg_endpoint *endpoint)
{
    struct virtqueue_device *queue = &openamp_remote.tx;

    (void)endpoint;
    queue->vring.used->idx = (uint16_t)(queue->used_idx + 40000u);
    queue->notify(queue);
}
#elif APP_FAULT_LENGTH
/* A header that says more than its buffer has room for. */
static void break_link(struct rpmsg_endpoint *endpoint)
{
    struct virtqueue_device *queue = &openamp_remote.tx;
    struct virtqueue_buffer buffer;
    struct rpmsg_header *header;

    if (virtqueue_take(queue, &buffer)) {
        header = buffer.data;
        *header =
            (struct rpmsg_header){.src = endpoint->addr, .dst = endpoint->dest, .len = (uint16_t)(buffer.bytes + 88u)};
        virtqueue_give_back(queue, buffer.head, buffer.bytes);
        virtqueue_notify_used(queue);
    }
}
#elif APP_FAULT_ENDPOINT
/* A message for an address that the A7 does not have. */
static void break_link(struct rpmsg_endpoint *endpoint)
{
    struct rpmsg_endpoint lost = *endpoint;

    lost.dest = 0x999u;
    rpmsg_remote_send(&openamp_remote, &lost, "lost", 4);
}
#elif APP_FAULT_MAILBOX
static void break_link(struct rpmsg_endpoint *endpoint)
{
    (void)endpoint;
    openamp_stop_acknowledging();
}
#endif

void breach_after_message(struct rpmsg_endpoint *endpoint)
{
    static int broken;

    if (!broken) {
        broken = 1;
        break_link(endpoint);
    }
}
