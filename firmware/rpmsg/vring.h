/* The memory of a split virtqueue: Virtual I/O Device (VIRTIO) 1.1, 2.6, little-endian as all that it runs on. */
#ifndef VRING_H
#define VRING_H

#include <stddef.h>
#include <stdint.h>

#define VRING_DESC_F_WRITE 2u         /* the device writes the buffer */
#define VRING_AVAIL_F_NO_INTERRUPT 1u /* the driver does not want to hear of used buffers */
#define VRING_USED_F_NO_NOTIFY 1u     /* the device does not want to hear of available buffers */

/* The most descriptors that a queue of ours has. */
#define VRING_MAX 64u

struct vring_desc {
    uint64_t addr;
    uint32_t len;
    uint16_t flags;
    uint16_t next;
};

struct vring_avail {
    uint16_t flags;
    uint16_t idx;
    uint16_t ring[];
};

struct vring_used_elem {
    uint32_t id;
    uint32_t len;
};

struct vring_used {
    uint16_t flags;
    uint16_t idx;
    struct vring_used_elem ring[];
};

/* Where a queue's parts are. The number of descriptors is a power of two; the other side changes what it owns at any
 * time. */
struct vring {
    unsigned int num;
    volatile struct vring_desc *desc;
    volatile struct vring_avail *avail;
    volatile struct vring_used *used;
};

/* The memory of a queue of `num` descriptors whose used ring is aligned to `align` bytes, a power of two (2.6.2, legacy
 * layout). */
size_t vring_bytes(unsigned int num, size_t align);

/* The parts of a queue at `base`; nothing is written. */
void vring_place(struct vring *vring, unsigned int num, uintptr_t base, size_t align);

/* The other side sees accesses before it no later than those after it (2.6.13). */
static inline void vring_barrier(void)
{
    __asm__ volatile("dmb" : : : "memory");
}

#endif
