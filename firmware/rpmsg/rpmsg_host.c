#include "rpmsg_host.h"

#include "string.h"

/* A message that was received. */
static void receive(struct rpmsg_host *host, struct rpmsg_header *header, uint32_t bytes)
{
    if (bytes > host->buffer_bytes) {
        link_fault(host->monitor, "%s: %u bytes written into a buffer of %u", host->rx.name, bytes, host->buffer_bytes);
        return;
    }
    if (rpmsg_header_fits(host->monitor, host->rx.name, header, bytes)) {
        rpmsg_deliver(host->monitor, host->rx.name, host->endpoints, header);
    }
}

/* The other side has filled receive buffers. */
static void received(struct virtqueue_driver *queue)
{
    struct rpmsg_host *host = queue->context;
    struct rpmsg_header *header;
    uint32_t bytes;

    while ((header = virtqueue_get(queue, &bytes))) {
        receive(host, header, bytes);
        virtqueue_add(queue, (uintptr_t)header, host->buffer_bytes, true, header);
    }
    virtqueue_kick(queue);
}

static bool ends_within(const char *name, size_t bytes)
{
    while (bytes && *name) {
        name++;
        bytes--;
    }
    return bytes > 0;
}

/* A channel of the other side comes; those that go are not used here. */
static void announced(struct rpmsg_endpoint *name_service, void *data, uint32_t bytes, uint32_t src)
{
    struct rpmsg_host *host = name_service->context;
    struct rpmsg_ns_message *message = data;
    struct rpmsg_endpoint *endpoint;

    if (bytes != sizeof *message) {
        link_fault(host->monitor, "%s: name service: %u bytes from 0x%x, an announcement has %u", host->rx.name, bytes,
            src, (uint32_t)sizeof *message);
        return;
    }
    if (!ends_within(message->name, RPMSG_NAME_BYTES)) {
        link_fault(host->monitor, "%s: name service: the name of 0x%x does not end within %u bytes", host->rx.name,
            message->addr, (uint32_t)RPMSG_NAME_BYTES);
        return;
    }
    if (message->flags & RPMSG_NS_DESTROY) {
        endpoint = host->endpoints;
        while (endpoint && endpoint->dest != message->addr) {
            endpoint = endpoint->next;
        }
        if (endpoint) {
            endpoint->dest = RPMSG_ADDR_ANY;
        }
        return;
    }
    endpoint = host->ops->channel(host->ops->context, message->name, message->addr);
    if (endpoint) {
        endpoint->dest = message->addr;
        rpmsg_host_add_endpoint(host, endpoint);
    }
}

static void fill_receive_ring(struct rpmsg_host *host, const struct rpmsg_host_memory *memory)
{
    for (unsigned int i = 0; i < memory->num; i++) {
        uintptr_t buffer = memory->buffers + i * memory->buffer_bytes;

        virtqueue_add(&host->rx, buffer, memory->buffer_bytes, true, (void *)buffer);
    }
}

void rpmsg_host_start(struct rpmsg_host *host, struct link_monitor *monitor, const struct rpmsg_host_ops *ops,
    const struct rpmsg_host_memory *memory)
{
    host->monitor = monitor;
    host->ops = ops;
    host->endpoints = NULL;
    host->next_addr = RPMSG_FIRST_DYNAMIC_ADDR;
    host->buffers = memory->num;
    host->buffer_bytes = memory->buffer_bytes;
    host->tx_buffers = (uint8_t *)(memory->buffers + memory->num * memory->buffer_bytes);
    host->unused = host->waiting = 0;
    host->waits = 0;
    virtqueue_driver_start(&host->rx, "vring0", monitor, memory->num, memory->vring0, memory->align);
    virtqueue_driver_start(&host->tx, "vring1", monitor, memory->num, memory->vring1, memory->align);
    host->rx.callback = received;
    host->tx.callback = NULL;
    host->rx.context = host->tx.context = host;
    fill_receive_ring(host, memory);
    virtqueue_want_interrupts(&host->tx, false);
    host->name_service = (struct rpmsg_endpoint){
        .name = "", .addr = RPMSG_NS_ADDR, .dest = RPMSG_ADDR_ANY, .received = announced, .context = host};
    rpmsg_host_add_endpoint(host, &host->name_service);
}

void rpmsg_host_add_endpoint(struct rpmsg_host *host, struct rpmsg_endpoint *endpoint)
{
    if (endpoint->addr == RPMSG_ADDR_ANY) {
        endpoint->addr = host->next_addr++;
    }
    endpoint->next = host->endpoints;
    host->endpoints = endpoint;
}

/* The next buffer that was never used, or one that the other side has read. */
static uint8_t *tx_buffer(struct rpmsg_host *host)
{
    uint32_t bytes;

    if (host->unused < host->buffers) {
        return host->tx_buffers + host->unused++ * host->buffer_bytes;
    }
    return virtqueue_get(&host->tx, &bytes);
}

/* Waits for a buffer with "used" notifications on, which are off otherwise. */
static uint8_t *wait_for_tx_buffer(struct rpmsg_host *host)
{
    const struct rpmsg_host_ops *ops = host->ops;
    uint64_t until_ms = ops->now_ms(ops->context) + RPMSG_SEND_WAIT_MS;
    uint8_t *buffer;

    host->waits++;
    if (host->waiting++ == 0) {
        virtqueue_want_interrupts(&host->tx, true);
    }
    while (1) {
        uint32_t seen = ops->events(ops->context);

        buffer = tx_buffer(host);
        if (buffer || host->monitor->broken) {
            break;
        }
        if (ops->now_ms(ops->context) >= until_ms) {
            link_fault(host->monitor, "%s: no free buffer for %u ms: the other side has all %u and returns none",
                host->tx.name, RPMSG_SEND_WAIT_MS, host->buffers);
            break;
        }
        ops->sleep(ops->context, seen, until_ms);
    }
    if (--host->waiting == 0) {
        virtqueue_want_interrupts(&host->tx, false);
    }
    return buffer;
}

static int send(struct rpmsg_host *host, struct rpmsg_endpoint *endpoint, const void *data, uint32_t bytes, bool wait)
{
    struct rpmsg_header *header;
    uint8_t *buffer;

    if (host->monitor->broken) {
        return RPMSG_BROKEN;
    }
    if (endpoint->dest == RPMSG_ADDR_ANY) {
        return RPMSG_NO_ADDRESS;
    }
    if (bytes > rpmsg_host_payload_bytes(host)) {
        return RPMSG_TOO_LONG;
    }
    buffer = tx_buffer(host);
    if (!buffer && wait) {
        buffer = wait_for_tx_buffer(host);
    }
    if (!buffer) {
        return host->monitor->broken ? RPMSG_BROKEN : RPMSG_NO_BUFFER;
    }
    header = (struct rpmsg_header *)(void *)buffer;
    header->src = endpoint->addr;
    header->dst = endpoint->dest;
    header->reserved = 0;
    header->len = (uint16_t)bytes;
    header->flags = 0;
    memcpy(header + 1, data, bytes);
    virtqueue_add(&host->tx, (uintptr_t)buffer, (uint32_t)RPMSG_HEADER_BYTES + bytes, false, buffer);
    virtqueue_kick(&host->tx);
    return 0;
}

int rpmsg_host_send(struct rpmsg_host *host, struct rpmsg_endpoint *endpoint, const void *data, uint32_t bytes)
{
    return send(host, endpoint, data, bytes, true);
}

int rpmsg_host_trysend(struct rpmsg_host *host, struct rpmsg_endpoint *endpoint, const void *data, uint32_t bytes)
{
    return send(host, endpoint, data, bytes, false);
}

uint32_t rpmsg_host_payload_bytes(const struct rpmsg_host *host)
{
    return host->buffer_bytes - (uint32_t)RPMSG_HEADER_BYTES;
}
