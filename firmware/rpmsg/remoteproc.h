/* Bringing up a remote processor: its firmware into its memory, what it asks for, its virtio device. Structure after
 * Linux's drivers/remoteproc; nothing here knows what starts the processor. */
#ifndef REMOTEPROC_H
#define REMOTEPROC_H

#include <stdbool.h>
#include <stdint.h>

#include "link_fault.h"
#include "resource_table.h"
#include "rpmsg_host.h"

/* Memory of the remote's: from where to where as it sees it, and where that is here. */
struct remoteproc_memory {
    uint32_t da, bytes;
    uintptr_t here;
};

/* Memory for the virtio device, at addresses on which both sides agree. */
struct remoteproc_carveout {
    uintptr_t vring0, vring1, buffers;
    uint32_t vring_bytes, buffers_bytes;
};

struct remoteproc {
    struct link_monitor *monitor;
    const struct remoteproc_memory *memories;
    unsigned int memory_count;
    volatile struct resource_vdev *vdev; /* in the loaded table */
    const char *trace;                   /* its text, or null */
    uint32_t trace_bytes;
};

/* Loads an ELF file's segments and finds its resource table, with one RPMsg device. A fault and false if either can't
 * be. */
bool remoteproc_load(struct remoteproc *rproc, const uint8_t *image, uint32_t bytes);

/* Sets the addresses of the device's rings, and prints all addresses. `buffer_bytes` is the host's choice. */
bool remoteproc_place_vrings(struct remoteproc *rproc, const struct remoteproc_carveout *carveout,
    uint32_t buffer_bytes, struct rpmsg_host_memory *memory);

/* Features are agreed on, the driver is there: the remote may begin. */
void remoteproc_driver_ok(struct remoteproc *rproc);

/* Where an address of the remote's is here, or 0: with all of `bytes` in one memory. */
uintptr_t remoteproc_da_to_here(const struct remoteproc *rproc, uint32_t da, uint32_t bytes);

#endif
