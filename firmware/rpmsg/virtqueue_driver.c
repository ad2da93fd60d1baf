#include "virtqueue_driver.h"

void virtqueue_driver_start(struct virtqueue_driver *queue, const char *name, struct link_monitor *monitor,
    unsigned int num, uintptr_t base, size_t align)
{
    volatile uint8_t *byte = (volatile uint8_t *)base;

    for (size_t left = vring_bytes(num, align); left; left--) {
        *byte++ = 0;
    }
    vring_place(&queue->vring, num, base, align);
    queue->name = name;
    queue->monitor = monitor;
    queue->free_head = 0;
    queue->free_count = (uint16_t)num;
    queue->avail_idx = queue->avail_told = queue->last_used = queue->avail_flags = 0;
    for (unsigned int i = 0; i < num; i++) {
        queue->vring.desc[i].next = (uint16_t)(i + 1);
        queue->cookies[i] = NULL;
    }
}

bool virtqueue_add(struct virtqueue_driver *queue, uintptr_t address, uint32_t bytes, bool writable, void *cookie)
{
    struct vring *vring = &queue->vring;
    uint16_t head = queue->free_head;

    if (queue->free_count == 0) {
        return false;
    }
    vring->desc[head].addr = address;
    vring->desc[head].len = bytes;
    vring->desc[head].flags = writable ? VRING_DESC_F_WRITE : 0;
    queue->free_head = vring->desc[head].next;
    queue->free_count--;
    queue->cookies[head] = cookie;
    vring->avail->ring[queue->avail_idx & (vring->num - 1)] = head;
    vring_barrier();
    queue->avail_idx++;
    vring->avail->idx = queue->avail_idx;
    return true;
}

/* The used ring's index if it is one that it can have. */
static bool used_index(struct virtqueue_driver *queue, uint16_t *index)
{
    uint16_t idx = queue->vring.used->idx;
    uint16_t in_use = (uint16_t)(queue->vring.num - queue->free_count);

    if ((uint16_t)(idx - queue->last_used) > in_use) {
        link_fault(queue->monitor, "%s: used index went from %u to %u, at most %u may be new", queue->name,
            queue->last_used, idx, in_use);
        return false;
    }
    *index = idx;
    return true;
}

void *virtqueue_get(struct virtqueue_driver *queue, uint32_t *bytes)
{
    struct vring *vring = &queue->vring;
    volatile struct vring_used_elem *used;
    uint16_t idx;
    uint32_t id;
    void *cookie;

    if (queue->monitor->broken || !used_index(queue, &idx) || idx == queue->last_used) {
        return NULL;
    }
    vring_barrier();
    used = &vring->used->ring[queue->last_used & (vring->num - 1)];
    id = used->id;
    *bytes = used->len;
    if (id >= vring->num || !queue->cookies[id]) {
        link_fault(queue->monitor, "%s: used descriptor %u of %u, which the device does not have", queue->name, id,
            vring->num);
        return NULL;
    }
    cookie = queue->cookies[id];
    queue->cookies[id] = NULL;
    vring->desc[id].next = queue->free_head;
    queue->free_head = (uint16_t)id;
    queue->free_count++;
    queue->last_used++;
    return cookie;
}

bool virtqueue_more_used(const struct virtqueue_driver *queue)
{
    return queue->vring.used->idx != queue->last_used;
}

void virtqueue_kick(struct virtqueue_driver *queue)
{
    /* The index has to be there before the flag is read: the device may be about to sleep (2.6.13.4). */
    vring_barrier();
    if (queue->avail_told == queue->avail_idx || queue->monitor->broken) {
        return;
    }
    queue->avail_told = queue->avail_idx;
    if (!(queue->vring.used->flags & VRING_USED_F_NO_NOTIFY)) {
        queue->notify(queue);
    }
}

void virtqueue_want_interrupts(struct virtqueue_driver *queue, bool wanted)
{
    queue->avail_flags = wanted ? 0 : VRING_AVAIL_F_NO_INTERRUPT;
    queue->vring.avail->flags = queue->avail_flags;
    vring_barrier();
}

void virtqueue_interrupt(struct virtqueue_driver *queue)
{
    if (virtqueue_more_used(queue) && queue->callback) {
        queue->callback(queue);
    }
}
