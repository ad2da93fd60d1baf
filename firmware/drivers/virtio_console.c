#include "virtio_console.h"

#include "mmio.h"

#include <stddef.h>

/* VIRTIO 1.1, 4.2.2. */
#define MAGIC_VALUE 0x000u
#define VERSION 0x004u
#define DEVICE_ID 0x008u
#define DRIVER_FEATURES 0x020u
#define DRIVER_FEATURES_SEL 0x024u
#define QUEUE_SEL 0x030u
#define QUEUE_NUM 0x038u
#define QUEUE_READY 0x044u
#define QUEUE_NOTIFY 0x050u
#define INTERRUPT_STATUS 0x060u
#define INTERRUPT_ACK 0x064u
#define STATUS 0x070u
#define QUEUE_DESC_LOW 0x080u
#define QUEUE_DRIVER_LOW 0x090u
#define QUEUE_DEVICE_LOW 0x0A0u
/* The upper half of each of the three follows the lower one. */
#define HIGH 4u

#define MAGIC 0x74726976u
#define MMIO_VERSION 2u
#define ID_CONSOLE 3u
/* VIRTIO_F_VERSION_1 is bit 32. */
#define FEATURES_1_VERSION_1 1u
#define INTERRUPT_CONFIGURATION 2u

#define STATUS_ACKNOWLEDGE 1u
#define STATUS_DRIVER 2u
#define STATUS_DRIVER_OK 4u
#define STATUS_FEATURES_OK 8u

enum { RECEIVE, TRANSMIT };

static void notify(struct virtqueue_driver *queue)
{
    struct virtio_console *console = queue->context;

    mmio_write(console->base, QUEUE_NOTIFY, queue == &console->receive ? RECEIVE : TRANSMIT);
}

static void set_up(struct virtio_console *console, struct virtqueue_driver *queue, uint32_t index, const char *name)
{
    uintptr_t base = console->base;

    queue->context = console;
    queue->notify = notify;
    queue->callback = NULL;
    virtqueue_driver_start(
        queue, name, console->monitor, VIRTIO_CONSOLE_BUFFERS, (uintptr_t)console->rings[index], sizeof(uint32_t));
    mmio_write(base, QUEUE_SEL, index);
    mmio_write(base, QUEUE_NUM, VIRTIO_CONSOLE_BUFFERS);
    mmio_write(base, QUEUE_DESC_LOW, (uint32_t)(uintptr_t)queue->vring.desc);
    mmio_write(base, QUEUE_DESC_LOW + HIGH, 0);
    mmio_write(base, QUEUE_DRIVER_LOW, (uint32_t)(uintptr_t)queue->vring.avail);
    mmio_write(base, QUEUE_DRIVER_LOW + HIGH, 0);
    mmio_write(base, QUEUE_DEVICE_LOW, (uint32_t)(uintptr_t)queue->vring.used);
    mmio_write(base, QUEUE_DEVICE_LOW + HIGH, 0);
    vring_barrier();
    mmio_write(base, QUEUE_READY, 1);
}

/* 3.1.1, up to the queues. */
static bool negotiate(struct virtio_console *console)
{
    uintptr_t base = console->base;

    if (mmio_read(base, MAGIC_VALUE) != MAGIC || mmio_read(base, VERSION) != MMIO_VERSION ||
        mmio_read(base, DEVICE_ID) != ID_CONSOLE) {
        link_fault(console->monitor, "virtio: there is no console at 0x%x", (unsigned int)base);
        return false;
    }
    mmio_write(base, STATUS, 0);
    mmio_write(base, STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER);
    mmio_write(base, DRIVER_FEATURES_SEL, 0);
    mmio_write(base, DRIVER_FEATURES, 0);
    mmio_write(base, DRIVER_FEATURES_SEL, 1);
    mmio_write(base, DRIVER_FEATURES, FEATURES_1_VERSION_1);
    mmio_write(base, STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK);
    if (!(mmio_read(base, STATUS) & STATUS_FEATURES_OK)) {
        link_fault(console->monitor, "virtio: the console does not know version 1");
        return false;
    }
    return true;
}

bool virtio_console_start(struct virtio_console *console, uintptr_t base, struct link_monitor *monitor)
{
    console->base = base;
    console->monitor = monitor;
    console->held = NULL;
    if (!negotiate(console)) {
        return false;
    }
    set_up(console, &console->receive, RECEIVE, "receiveq");
    set_up(console, &console->transmit, TRANSMIT, "transmitq");
    /* The one interrupt that is wanted is that for the host's bytes. */
    virtqueue_want_interrupts(&console->transmit, false);
    mmio_write(base, STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK | STATUS_DRIVER_OK);
    for (uint32_t i = 0; i < VIRTIO_CONSOLE_BUFFERS; i++) {
        virtqueue_add(
            &console->receive, (uintptr_t)console->buffers[i], VIRTIO_CONSOLE_BUFFER_BYTES, true, console->buffers[i]);
    }
    virtqueue_kick(&console->receive);
    return true;
}

uint32_t virtio_console_read(struct virtio_console *console, const uint8_t **data)
{
    uint32_t bytes = 0;

    console->held = virtqueue_get(&console->receive, &bytes);
    *data = console->held;
    return console->held ? bytes : 0;
}

void virtio_console_done(struct virtio_console *console)
{
    virtqueue_add(&console->receive, (uintptr_t)console->held, VIRTIO_CONSOLE_BUFFER_BYTES, true, console->held);
    virtqueue_kick(&console->receive);
}

bool virtio_console_write(struct virtio_console *console, const uint8_t *data, uint32_t bytes)
{
    uint32_t written;
    uint8_t *cookie = console->rings[TRANSMIT];

    virtqueue_add(&console->transmit, (uintptr_t)data, bytes, false, cookie);
    virtqueue_kick(&console->transmit);
    while (!virtqueue_get(&console->transmit, &written)) {
        if (console->monitor->broken) {
            return false;
        }
    }
    return true;
}

void virtio_console_interrupt(struct virtio_console *console)
{
    uint32_t status = mmio_read(console->base, INTERRUPT_STATUS);

    mmio_write(console->base, INTERRUPT_ACK, status);
    if (status & INTERRUPT_CONFIGURATION) {
        link_fault(console->monitor, "virtio: the console needs a reset: it does not understand the rings");
    }
}
