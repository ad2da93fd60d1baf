/* The remote's side of RPMsg: rings and buffers are the host's. Structure after OpenAMP's rpmsg_virtio.c (role
 * RPMSG_REMOTE) and rpmsg.c. */
#ifndef RPMSG_REMOTE_H
#define RPMSG_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "rpmsg.h"
#include "virtqueue_device.h"

struct rpmsg_remote {
    struct virtqueue_device tx, rx; /* vring 0, vring 1 */
    struct virtqueue_window window;
    struct link_monitor *monitor;
    struct rpmsg_endpoint *endpoints;
    uint32_t next_addr;
    bool announces; /* the host has the name service */
    /* One millisecond passes. */
    void (*wait_ms)(void);
};

/* Where the host put things. */
struct rpmsg_remote_memory {
    uintptr_t vring0, vring1;
    unsigned int num; /* descriptors of each */
    uint32_t align;
    struct virtqueue_window window; /* the memory that both sides see, and the greatest buffer */
    bool name_service;
};

/* Takes up the host's rings; it must have set them up. The notifications of `tx` and `rx` and wait_ms are the caller's
 * to set before. */
void rpmsg_remote_start(
    struct rpmsg_remote *remote, struct link_monitor *monitor, const struct rpmsg_remote_memory *memory);

/* Adds an endpoint with a name, and announces it to the host; an address of RPMSG_ADDR_ANY is replaced by the next free
 * one from 0 on, as OpenAMP gives them. 0 or an rpmsg_error. */
int rpmsg_remote_create_endpoint(struct rpmsg_remote *remote, struct rpmsg_endpoint *endpoint);

/* Sends to the endpoint's destination; waits for a free buffer if necessary, checking each millisecond for 15 s,
 * after which it is a fault. 0 or an rpmsg_error. */
int rpmsg_remote_send(struct rpmsg_remote *remote, struct rpmsg_endpoint *endpoint, const void *data, uint32_t bytes);

#endif
