#include "rpmsg_remote.h"

#include "string.h"

/* The host has sent messages: all that are there, then one notification that their buffers are free again. */
static void received(struct virtqueue_device *queue)
{
    struct rpmsg_remote *remote = queue->context;
    struct virtqueue_buffer buffer;
    bool any = false;

    while (virtqueue_take(queue, &buffer)) {
        if (!rpmsg_header_fits(remote->monitor, queue->name, buffer.data, buffer.bytes)) {
            return;
        }
        rpmsg_deliver(remote->monitor, queue->name, remote->endpoints, buffer.data);
        virtqueue_give_back(queue, buffer.head, buffer.bytes);
        any = true;
    }
    if (any) {
        virtqueue_notify_used(queue);
    }
}

void rpmsg_remote_start(
    struct rpmsg_remote *remote, struct link_monitor *monitor, const struct rpmsg_remote_memory *memory)
{
    remote->monitor = monitor;
    remote->window = memory->window;
    remote->endpoints = NULL;
    remote->next_addr = 0;
    remote->announces = memory->name_service;
    virtqueue_device_start(&remote->tx, "vring0", monitor, &remote->window, memory->num, memory->vring0, memory->align);
    virtqueue_device_start(&remote->rx, "vring1", monitor, &remote->window, memory->num, memory->vring1, memory->align);
    remote->tx.callback = NULL;
    remote->rx.callback = received;
    remote->tx.context = remote->rx.context = remote;
    /* Free buffers are looked for when one is needed. */
    virtqueue_refuse_notifications(&remote->tx);
}

/* An empty buffer to send in, waited for. */
static bool tx_buffer(struct rpmsg_remote *remote, struct virtqueue_buffer *buffer)
{
    for (uint32_t waited_ms = 0; !virtqueue_take(&remote->tx, buffer); waited_ms++) {
        if (remote->monitor->broken) {
            return false;
        }
        if (waited_ms == RPMSG_SEND_WAIT_MS) {
            link_fault(remote->monitor, "%s: no free buffer for %u ms: the other side has all %u and returns none",
                remote->tx.name, RPMSG_SEND_WAIT_MS, remote->tx.vring.num);
            return false;
        }
        remote->wait_ms();
    }
    return true;
}

static int send(struct rpmsg_remote *remote, uint32_t src, uint32_t dst, const void *data, uint32_t bytes)
{
    struct virtqueue_buffer buffer;
    struct rpmsg_header *header;

    if (remote->monitor->broken || !tx_buffer(remote, &buffer)) {
        return RPMSG_BROKEN;
    }
    if (bytes + RPMSG_HEADER_BYTES > buffer.bytes) {
        virtqueue_give_back(&remote->tx, buffer.head, 0);
        return RPMSG_TOO_LONG;
    }
    header = buffer.data;
    header->src = src;
    header->dst = dst;
    header->reserved = 0;
    header->len = (uint16_t)bytes;
    header->flags = 0;
    memcpy(header + 1, data, bytes);
    virtqueue_give_back(&remote->tx, buffer.head, (uint32_t)RPMSG_HEADER_BYTES + bytes);
    virtqueue_notify_used(&remote->tx);
    return 0;
}

static int announce(struct rpmsg_remote *remote, const struct rpmsg_endpoint *endpoint)
{
    struct rpmsg_ns_message message = {.addr = endpoint->addr, .flags = RPMSG_NS_CREATE};
    size_t length = strlen(endpoint->name);

    if (length >= RPMSG_NAME_BYTES) {
        return RPMSG_TOO_LONG;
    }
    memcpy(message.name, endpoint->name, length);
    return send(remote, endpoint->addr, RPMSG_NS_ADDR, &message, sizeof message);
}

int rpmsg_remote_create_endpoint(struct rpmsg_remote *remote, struct rpmsg_endpoint *endpoint)
{
    if (endpoint->addr == RPMSG_ADDR_ANY) {
        endpoint->addr = remote->next_addr++;
    }
    endpoint->next = remote->endpoints;
    remote->endpoints = endpoint;
    return remote->announces && *endpoint->name ? announce(remote, endpoint) : 0;
}

int rpmsg_remote_send(struct rpmsg_remote *remote, struct rpmsg_endpoint *endpoint, const void *data, uint32_t bytes)
{
    if (endpoint->dest == RPMSG_ADDR_ANY) {
        return RPMSG_NO_ADDRESS;
    }
    return send(remote, endpoint->addr, endpoint->dest, data, bytes);
}
