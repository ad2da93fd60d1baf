/* Both sides of an RPMsg link in one program on one core: a kick is noted, and served when the test says so. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "rpmsg_host.h"
#include "rpmsg_remote.h"

#define BUFFERS 16u
#define BUFFER_BYTES 512u
#define PAYLOAD_BYTES (BUFFER_BYTES - RPMSG_HEADER_BYTES)

struct loopback {
    struct link_monitor host_monitor, remote_monitor;
    struct rpmsg_host host;
    struct rpmsg_remote remote;
    uint32_t host_kicks[2], remote_kicks[2]; /* by sender and by ring */
    bool host_called, remote_called;         /* rx has something */
    struct rpmsg_endpoint host_endpoint, remote_endpoint;
};

/* Starts both sides with a channel "loop" of theirs: what arrives goes to the two functions. */
void loopback_start(struct loopback *link, void (*at_host)(struct rpmsg_endpoint *, void *, uint32_t, uint32_t),
    void (*at_remote)(struct rpmsg_endpoint *, void *, uint32_t, uint32_t));

/* Serves what was kicked. */
void loopback_serve(struct loopback *link);

/* While false, a host that waits for a buffer is not helped. */
extern bool loopback_helps_sleepers;

#endif
