/* RPMsg: messages between endpoints over two virtqueues (Linux, Documentation/staging/rpmsg.rst). Both sides have this
 * header. */
#ifndef RPMSG_H
#define RPMSG_H

#include <stdint.h>

#include "link_fault.h"

#define RPMSG_ADDR_ANY 0xFFFFFFFFu
#define RPMSG_NS_ADDR 53u             /* the name service */
#define RPMSG_FIRST_DYNAMIC_ADDR 1024u /* below are well-known services (the host's side) */
#define RPMSG_NAME_BYTES 32u

/* The virtio device's type and its feature: it announces its channels. */
#define VIRTIO_ID_RPMSG 7u
#define VIRTIO_RPMSG_F_NS 0u

/* Status bits of a virtio device (VIRTIO 1.1, 2.1). */
#define VIRTIO_STATUS_ACKNOWLEDGE 1u
#define VIRTIO_STATUS_DRIVER 2u
#define VIRTIO_STATUS_DRIVER_OK 4u

/* At the beginning of each buffer. */
struct rpmsg_header {
    uint32_t src;
    uint32_t dst;
    uint32_t reserved;
    uint16_t len; /* of the payload */
    uint16_t flags;
};

#define RPMSG_HEADER_BYTES sizeof(struct rpmsg_header)

/* To RPMSG_NS_ADDR: a channel comes or goes. */
struct rpmsg_ns_message {
    char name[RPMSG_NAME_BYTES];
    uint32_t addr;
    uint32_t flags;
};

#define RPMSG_NS_CREATE 0u
#define RPMSG_NS_DESTROY 1u

/* How long a sender waits for a free buffer (Linux, virtio_rpmsg_bus.c; OpenAMP, rpmsg_virtio.c). */
#define RPMSG_SEND_WAIT_MS 15000u

struct rpmsg_endpoint {
    const char *name; /* of its channel; "" for none */
    uint32_t addr;    /* its own */
    uint32_t dest;    /* the other side's; RPMSG_ADDR_ANY until it is known */
    /* Gets a message's payload, which it may change, and its sender. */
    void (*received)(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src);
    void *context; /* of whoever has the callback */
    struct rpmsg_endpoint *next;
};

/* Errors of sending; all are negative. */
enum rpmsg_error {
    RPMSG_NO_BUFFER = -1, /* all buffers are at the other side */
    RPMSG_TOO_LONG = -2,  /* longer than a buffer's payload */
    RPMSG_NO_ADDRESS = -3, /* the endpoint does not know whom to send to */
    RPMSG_BROKEN = -4,    /* the link had a fault */
};

/* The endpoint of an address in a list, or null. */
struct rpmsg_endpoint *rpmsg_find_endpoint(struct rpmsg_endpoint *list, uint32_t addr);

/* Whether a message's header fits its buffer of `bytes`; a fault of `ring` if not. */
int rpmsg_header_fits(
    struct link_monitor *monitor, const char *ring, const volatile struct rpmsg_header *header, uint32_t bytes);

/* Delivers a message to its endpoint in a list; a fault without such an endpoint. */
void rpmsg_deliver(
    struct link_monitor *monitor, const char *ring, struct rpmsg_endpoint *list, struct rpmsg_header *header);

#endif
