#include "loopback.h"

#include "console.h"
#include "string.h"

static uint8_t rings[2][4096] __attribute__((aligned(16)));
static uint8_t buffers[2 * BUFFERS][BUFFER_BYTES] __attribute__((aligned(16)));
static uint64_t clock_ms;
static uint32_t sleeps;
bool loopback_helps_sleepers = true;

static void print_host_fault(struct link_monitor *monitor)
{
    console_print("host: %s\n", monitor->text);
}

static void print_remote_fault(struct link_monitor *monitor)
{
    console_print("remote: %s\n", monitor->text);
}

static struct rpmsg_endpoint *channel(void *context, const char *name, uint32_t addr)
{
    struct loopback *link = context;

    console_print("channel %s addr 0x%x\n", name, addr);
    return &link->host_endpoint;
}

static uint64_t now_ms(void *context)
{
    (void)context;
    return clock_ms;
}

static uint32_t events(void *context)
{
    (void)context;
    return sleeps;
}

static void host_sleep(void *context, uint32_t seen, uint64_t until_ms)
{
    sleeps = seen + 1;
    if (loopback_helps_sleepers) {
        loopback_serve(context);
    } else {
        clock_ms = until_ms;
    }
}

static void remote_wait_ms(void)
{
    clock_ms++;
}

static void host_kicks(struct virtqueue_driver *queue)
{
    struct loopback *link = ((struct rpmsg_host *)queue->context)->ops->context;

    if (queue == &link->host.tx) {
        link->host_kicks[1]++;
        link->remote_called = true;
    } else {
        link->host_kicks[0]++;
    }
}

static void remote_kicks(struct virtqueue_device *queue)
{
    struct loopback *link =
        queue->context ? (struct loopback *)((uint8_t *)queue->context - offsetof(struct loopback, remote)) : NULL;

    if (queue == &link->remote.tx) {
        link->remote_kicks[0]++;
        link->host_called = true;
    } else {
        link->remote_kicks[1]++;
    }
}

void loopback_serve(struct loopback *link)
{
    while (link->host_called || link->remote_called) {
        if (link->remote_called) {
            link->remote_called = false;
            virtqueue_notified(&link->remote.rx);
        }
        if (link->host_called) {
            link->host_called = false;
            virtqueue_interrupt(&link->host.rx);
        }
    }
}

void loopback_start(struct loopback *link, void (*at_host)(struct rpmsg_endpoint *, void *, uint32_t, uint32_t),
    void (*at_remote)(struct rpmsg_endpoint *, void *, uint32_t, uint32_t))
{
    static struct rpmsg_host_ops ops = {.channel = channel, .now_ms = now_ms, .events = events, .sleep = host_sleep};
    struct rpmsg_host_memory host_memory = {.vring0 = (uintptr_t)rings[0],
        .vring1 = (uintptr_t)rings[1],
        .num = BUFFERS,
        .align = 16,
        .buffers = (uintptr_t)buffers,
        .buffer_bytes = BUFFER_BYTES};
    struct rpmsg_remote_memory remote_memory = {.vring0 = (uintptr_t)rings[0],
        .vring1 = (uintptr_t)rings[1],
        .num = BUFFERS,
        .align = 16,
        .window = {.base = (uint32_t)(uintptr_t)buffers, .bytes = sizeof buffers, .longest = BUFFER_BYTES},
        .name_service = true};

    memset(link, 0, sizeof *link);
    ops.context = link;
    link->host_monitor.report = print_host_fault;
    link->remote_monitor.report = print_remote_fault;
    link->host.rx.notify = link->host.tx.notify = host_kicks;
    link->remote.rx.notify = link->remote.tx.notify = remote_kicks;
    link->remote.wait_ms = remote_wait_ms;
    link->host_endpoint =
        (struct rpmsg_endpoint){.name = "loop", .addr = RPMSG_ADDR_ANY, .received = at_host, .context = link};
    link->remote_endpoint = (struct rpmsg_endpoint){
        .name = "loop", .addr = RPMSG_ADDR_ANY, .dest = RPMSG_ADDR_ANY, .received = at_remote, .context = link};
    rpmsg_host_start(&link->host, &link->host_monitor, &ops, &host_memory);
    rpmsg_remote_start(&link->remote, &link->remote_monitor, &remote_memory);
    if (rpmsg_remote_create_endpoint(&link->remote, &link->remote_endpoint) != 0) {
        console_print("no endpoint\n");
    }
    loopback_serve(link);
}
