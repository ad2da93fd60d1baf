/* The host's side of RPMsg: it owns the rings and the buffers. Structure after Linux's
 * drivers/rpmsg/virtio_rpmsg_bus.c. */
#ifndef RPMSG_HOST_H
#define RPMSG_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "rpmsg.h"
#include "virtqueue_driver.h"

/* Functions that the program provides for the host. */
struct rpmsg_host_ops {
    /* The other side announced a channel: an endpoint that shall have it, with name, callback and context, or null for
     * none. */
    struct rpmsg_endpoint *(*channel)(void *context, const char *name, uint32_t addr);
    /* Milliseconds of any clock. */
    uint64_t (*now_ms)(void *context);
    /* How many interrupts were served so far. */
    uint32_t (*events)(void *context);
    /* Sleeps until that is no longer `seen`, or the clock shows `until_ms`. */
    void (*sleep)(void *context, uint32_t seen, uint64_t until_ms);
    void *context;
};

struct rpmsg_host {
    struct virtqueue_driver rx, tx; /* vring 0, vring 1 */
    struct link_monitor *monitor;
    const struct rpmsg_host_ops *ops;
    struct rpmsg_endpoint *endpoints;
    struct rpmsg_endpoint name_service;
    uint32_t next_addr;
    uint8_t *tx_buffers;
    uint32_t buffer_bytes;
    unsigned int buffers; /* in each direction */
    unsigned int unused;  /* index of the first tx buffer that was never sent */
    unsigned int waiting; /* senders that wait for a tx buffer */
    uint32_t waits;       /* how often one had to */
};

/* Where things are in memory that both sides see. */
struct rpmsg_host_memory {
    uintptr_t vring0, vring1;
    unsigned int num; /* descriptors of each */
    uint32_t align;
    uintptr_t buffers; /* twice `num`: first those to receive into */
    uint32_t buffer_bytes;
};

/* Sets up the rings, and makes all receive buffers available without a word to the other side. The notifications of
 * `rx` and `tx` are the caller's to set before. */
void rpmsg_host_start(struct rpmsg_host *host, struct link_monitor *monitor, const struct rpmsg_host_ops *ops,
    const struct rpmsg_host_memory *memory);

/* Adds an endpoint; an address of RPMSG_ADDR_ANY is replaced by the next free one from 1024 on. */
void rpmsg_host_add_endpoint(struct rpmsg_host *host, struct rpmsg_endpoint *endpoint);

/* Sends to the endpoint's destination; waits for a free buffer if necessary, at most 15 s, after which it is a
 * fault. 0 or an rpmsg_error. */
int rpmsg_host_send(struct rpmsg_host *host, struct rpmsg_endpoint *endpoint, const void *data, uint32_t bytes);

/* The same, but does not wait: RPMSG_NO_BUFFER. */
int rpmsg_host_trysend(struct rpmsg_host *host, struct rpmsg_endpoint *endpoint, const void *data, uint32_t bytes);

/* The longest payload. */
uint32_t rpmsg_host_payload_bytes(const struct rpmsg_host *host);

#endif
