#include "virtqueue_device.h"

void virtqueue_device_start(struct virtqueue_device *queue, const char *name, struct link_monitor *monitor,
    const struct virtqueue_window *window, unsigned int num, uintptr_t base, size_t align)
{
    vring_place(&queue->vring, num, base, align);
    queue->name = name;
    queue->monitor = monitor;
    queue->window = window;
    queue->last_avail = queue->used_idx = 0;
}

/* The available ring's index if it is one that it can have. */
static bool avail_index(struct virtqueue_device *queue, uint16_t *index)
{
    uint16_t idx = queue->vring.avail->idx;
    uint16_t here = (uint16_t)(queue->last_avail - queue->used_idx);
    uint16_t most = (uint16_t)(queue->vring.num - here);

    if ((uint16_t)(idx - queue->last_avail) > most) {
        link_fault(queue->monitor, "%s: available index went from %u to %u, at most %u may be new", queue->name,
            queue->last_avail, idx, most);
        return false;
    }
    *index = idx;
    return true;
}

/* Whether a descriptor is one that a buffer may have. */
static bool is_sound(struct virtqueue_device *queue, uint16_t head)
{
    const struct virtqueue_window *window = queue->window;
    volatile struct vring_desc *desc;
    uint32_t address, bytes;

    if (head >= queue->vring.num) {
        link_fault(queue->monitor, "%s: available descriptor %u, there are %u", queue->name, head, queue->vring.num);
        return false;
    }
    desc = &queue->vring.desc[head];
    bytes = desc->len;
    if (bytes > window->longest) {
        link_fault(queue->monitor, "%s: descriptor %u has %u bytes, a buffer has at most %u", queue->name, head, bytes,
            window->longest);
        return false;
    }
    address = (uint32_t)desc->addr;
    if (address < window->base || address - window->base > window->bytes - bytes) {
        link_fault(
            queue->monitor, "%s: descriptor %u is at 0x%x, outside of the shared memory", queue->name, head, address);
        return false;
    }
    return true;
}

bool virtqueue_take(struct virtqueue_device *queue, struct virtqueue_buffer *buffer)
{
    uint16_t idx;

    vring_barrier();
    if (queue->monitor->broken || !avail_index(queue, &idx) || idx == queue->last_avail) {
        return false;
    }
    vring_barrier();
    buffer->head = queue->vring.avail->ring[queue->last_avail & (queue->vring.num - 1)];
    if (!is_sound(queue, buffer->head)) {
        return false;
    }
    queue->last_avail++;
    buffer->data = (void *)(uintptr_t)queue->vring.desc[buffer->head].addr;
    buffer->bytes = queue->vring.desc[buffer->head].len;
    return true;
}

void virtqueue_give_back(struct virtqueue_device *queue, uint16_t head, uint32_t bytes)
{
    volatile struct vring_used_elem *used = &queue->vring.used->ring[queue->used_idx & (queue->vring.num - 1)];

    used->id = head;
    used->len = bytes;
    vring_barrier();
    queue->used_idx++;
    queue->vring.used->idx = queue->used_idx;
}

void virtqueue_notify_used(struct virtqueue_device *queue)
{
    /* The index has to be there before the flag is read: the driver may be about to sleep (2.6.7.2). */
    vring_barrier();
    if (!(queue->vring.avail->flags & VRING_AVAIL_F_NO_INTERRUPT)) {
        queue->notify(queue);
    }
}

void virtqueue_refuse_notifications(struct virtqueue_device *queue)
{
    queue->vring.used->flags = VRING_USED_F_NO_NOTIFY;
    vring_barrier();
}

void virtqueue_notified(struct virtqueue_device *queue)
{
    if (queue->callback) {
        queue->callback(queue);
    }
}
