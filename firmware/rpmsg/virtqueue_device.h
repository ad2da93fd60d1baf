/* The device's side of a split virtqueue: it takes available buffers and gives them back used. Structure after
 * OpenAMP's virtqueue.c. */
#ifndef VIRTQUEUE_DEVICE_H
#define VIRTQUEUE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "link_fault.h"
#include "vring.h"

/* Memory that buffers may be in, and how long one may be. */
struct virtqueue_window {
    uint32_t base, bytes;
    uint32_t longest;
};

/* A buffer that the driver made available. */
struct virtqueue_buffer {
    void *data;
    uint32_t bytes;
    uint16_t head; /* its descriptor */
};

struct virtqueue_device {
    const char *name; /* in faults: "vring1" */
    struct link_monitor *monitor;
    const struct virtqueue_window *window;
    struct vring vring;
    uint16_t last_avail; /* how many available buffers were taken */
    uint16_t used_idx;   /* how many were given back */
    void (*notify)(struct virtqueue_device *queue);
    void (*callback)(struct virtqueue_device *queue); /* the driver has made buffers available; may be null */
    void *context;                                    /* of whoever has the callbacks */
};

/* A queue that a driver has set up at `base`. Callbacks and context are not touched. */
void virtqueue_device_start(struct virtqueue_device *queue, const char *name, struct link_monitor *monitor,
    const struct virtqueue_window *window, unsigned int num, uintptr_t base, size_t align);

/* The next available buffer. False without a buffer, or if the available ring or the descriptor is invalid, which
 * is a fault. */
bool virtqueue_take(struct virtqueue_device *queue, struct virtqueue_buffer *buffer);

/* Returns a buffer into which `bytes` were written. */
void virtqueue_give_back(struct virtqueue_device *queue, uint16_t head, uint32_t bytes);

/* Notifies the driver of used buffers, unless it suppresses that. */
void virtqueue_notify_used(struct virtqueue_device *queue);

/* Suppresses notifications of available buffers (2.6.9). */
void virtqueue_refuse_notifications(struct virtqueue_device *queue);

/* To be called for the driver's notification. */
void virtqueue_notified(struct virtqueue_device *queue);

#endif
