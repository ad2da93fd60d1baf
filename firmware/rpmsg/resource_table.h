/* The table in a remote processor's firmware that says what it needs: Linux, include/linux/remoteproc.h. */
#ifndef RESOURCE_TABLE_H
#define RESOURCE_TABLE_H

#include <stdint.h>

#define RSC_TRACE 2u /* a buffer with text for people */
#define RSC_VDEV 3u  /* a virtio device */

/* An address that the host is to fill in. */
#define RSC_ADDR_ANY 0xFFFFFFFFu

struct resource_table_header {
    uint32_t ver; /* 1 */
    uint32_t num; /* of entries; their offsets follow */
    uint32_t reserved[2];
};

struct resource_trace {
    uint32_t type;
    uint32_t da; /* device address: as the remote sees it */
    uint32_t len;
    uint32_t reserved;
    char name[32];
};

struct resource_vring {
    uint32_t da;
    uint32_t align;
    uint32_t num;
    uint32_t notifyid;
    uint32_t reserved;
};

/* A virtio device with two rings. */
struct resource_vdev {
    uint32_t type;
    uint32_t id; /* VIRTIO_ID_RPMSG */
    uint32_t notifyid;
    uint32_t dfeatures; /* the device's, a bit each */
    uint32_t gfeatures; /* those that the driver takes */
    uint32_t config_len;
    uint8_t status;
    uint8_t num_of_vrings;
    uint8_t reserved[2];
    struct resource_vring vring[2];
};

/* The table of a remote with RPMsg; its section is .resource_table. */
struct resource_table {
    struct resource_table_header header;
    uint32_t offset[2];
    struct resource_vdev vdev;
    struct resource_trace trace;
};

#endif
