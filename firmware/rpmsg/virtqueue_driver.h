/* The driver's side of a split virtqueue: it owns the descriptors and the buffers, and makes them available. Structure
 * and names after Linux's drivers/virtio/virtio_ring.c, with one descriptor a buffer. */
#ifndef VIRTQUEUE_DRIVER_H
#define VIRTQUEUE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "link_fault.h"
#include "vring.h"

struct virtqueue_driver {
    const char *name; /* in faults: "vring0" */
    struct link_monitor *monitor;
    struct vring vring;
    uint16_t free_head;  /* of the list of descriptors that are not in use, by their `next` */
    uint16_t free_count;
    uint16_t avail_idx;  /* what the available ring's index is */
    uint16_t avail_told; /* what it was at the last kick */
    uint16_t last_used;  /* how many used buffers were taken */
    uint16_t avail_flags;
    void *cookies[VRING_MAX]; /* of buffers in use, else null */
    void (*notify)(struct virtqueue_driver *queue);
    void (*callback)(struct virtqueue_driver *queue); /* the device has used buffers; may be null */
    void *context;                                    /* of whoever has the callbacks */
};

/* Clears a queue of `num` descriptors at `base`, which may be what the other side sees at `base`. Callbacks and context
 * are not touched. */
void virtqueue_driver_start(struct virtqueue_driver *queue, const char *name, struct link_monitor *monitor,
    unsigned int num, uintptr_t base, size_t align);

/* Makes a buffer available, one that the device reads or, `writable`, one that it writes. `cookie`, not null, comes
 * back with it. False if all descriptors are in use. */
bool virtqueue_add(struct virtqueue_driver *queue, uintptr_t address, uint32_t bytes, bool writable, void *cookie);

/* The cookie of the next buffer that the device has used, and how much it wrote; null without such a buffer, or if the
 * used ring is invalid, which is a fault. */
void *virtqueue_get(struct virtqueue_driver *queue, uint32_t *bytes);

/* Whether the device has used a buffer that was not taken yet. */
bool virtqueue_more_used(const struct virtqueue_driver *queue);

/* Notifies the device of buffers that were added since the last time, unless it suppresses that. */
void virtqueue_kick(struct virtqueue_driver *queue);

/* Whether the device shall notify of used buffers: it may do so nevertheless (2.6.7). */
void virtqueue_want_interrupts(struct virtqueue_driver *queue, bool wanted);

/* To be called for the device's notification: calls back if there are used buffers. */
void virtqueue_interrupt(struct virtqueue_driver *queue);

#endif
