#include "vring.h"

/* Each ring is followed by a halfword for event indices, which are not used here (2.6.7). */
static size_t avail_bytes(unsigned int num)
{
    return sizeof(struct vring_avail) + num * sizeof(uint16_t) + sizeof(uint16_t);
}

static size_t used_offset(unsigned int num, size_t align)
{
    return (num * sizeof(struct vring_desc) + avail_bytes(num) + align - 1) & ~(align - 1);
}

size_t vring_bytes(unsigned int num, size_t align)
{
    return used_offset(num, align) + sizeof(struct vring_used) + num * sizeof(struct vring_used_elem) +
        sizeof(uint16_t);
}

void vring_place(struct vring *vring, unsigned int num, uintptr_t base, size_t align)
{
    vring->num = num;
    vring->desc = (volatile struct vring_desc *)base;
    vring->avail = (volatile struct vring_avail *)(base + num * sizeof(struct vring_desc));
    vring->used = (volatile struct vring_used *)(base + used_offset(num, align));
}
