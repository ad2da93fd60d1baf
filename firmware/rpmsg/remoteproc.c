#include "remoteproc.h"

#include "elf32.h"
#include "string.h"

uintptr_t remoteproc_da_to_here(const struct remoteproc *rproc, uint32_t da, uint32_t bytes)
{
    for (unsigned int i = 0; i < rproc->memory_count; i++) {
        const struct remoteproc_memory *memory = &rproc->memories[i];

        if (da >= memory->da && da - memory->da <= memory->bytes && bytes <= memory->bytes - (da - memory->da)) {
            return memory->here + (da - memory->da);
        }
    }
    return 0;
}

static bool load_segment(struct remoteproc *rproc, const struct elf32_part *segment)
{
    uintptr_t here = remoteproc_da_to_here(rproc, segment->address, segment->memory_bytes);

    if (!here) {
        link_fault(rproc->monitor, "firmware: a segment of %u bytes at 0x%x, where the processor has no memory",
            segment->memory_bytes, segment->address);
        return false;
    }
    memcpy((void *)here, segment->data, segment->file_bytes);
    memset((void *)(here + segment->file_bytes), 0, segment->memory_bytes - segment->file_bytes);
    return true;
}

/* An entry of the table; null if its offset or what it has is outside of it. */
static void *entry_at(uintptr_t table, uint32_t bytes, uint32_t index, uint32_t least)
{
    uint32_t offset = ((const volatile uint32_t *)(table + sizeof(struct resource_table_header)))[index];

    return (offset & 3) || offset > bytes || least > bytes - offset ? NULL : (void *)(table + offset);
}

/* Takes what the host knows of; other entries are no harm. */
static bool take_entry(struct remoteproc *rproc, uintptr_t table, uint32_t bytes, uint32_t index)
{
    const volatile uint32_t *type = entry_at(table, bytes, index, sizeof *type);

    if (type && *type == RSC_VDEV) {
        rproc->vdev = entry_at(table, bytes, index, sizeof *rproc->vdev);
        type = (const volatile uint32_t *)rproc->vdev;
    } else if (type && *type == RSC_TRACE) {
        struct resource_trace *trace = entry_at(table, bytes, index, sizeof *trace);

        type = (const volatile uint32_t *)trace;
        if (trace) {
            rproc->trace_bytes = trace->len;
            rproc->trace = (const char *)remoteproc_da_to_here(rproc, trace->da, trace->len);
        }
    }
    if (!type) {
        link_fault(rproc->monitor, "firmware: entry %u of the resource table is outside of its %u bytes", index, bytes);
    }
    return type;
}

/* The table as it was loaded: the remote reads there what the host fills in. */
static bool take_table(struct remoteproc *rproc, const struct elf32_part *section)
{
    uintptr_t table = remoteproc_da_to_here(rproc, section->address, section->file_bytes);
    const volatile struct resource_table_header *header = (const volatile struct resource_table_header *)table;

    if (!table || section->file_bytes < sizeof *header) {
        link_fault(
            rproc->monitor, "firmware: a resource table of %u bytes at 0x%x", section->file_bytes, section->address);
        return false;
    }
    if (header->ver != 1 || header->num > (section->file_bytes - sizeof *header) / sizeof(uint32_t)) {
        link_fault(
            rproc->monitor, "firmware: a resource table of version %u with %u entries", header->ver, header->num);
        return false;
    }
    for (uint32_t i = 0; i < header->num; i++) {
        if (!take_entry(rproc, table, section->file_bytes, i)) {
            return false;
        }
    }
    return true;
}

bool remoteproc_load(struct remoteproc *rproc, const uint8_t *image, uint32_t bytes)
{
    struct elf32_image elf = {.data = image, .bytes = bytes, .monitor = rproc->monitor};
    struct elf32_part part;

    rproc->vdev = NULL;
    rproc->trace = NULL;
    if (!elf32_check(&elf)) {
        return false;
    }
    for (unsigned int i = 0; i < elf32_segments(&elf); i++) {
        if (elf32_segment(&elf, i, &part) && !load_segment(rproc, &part)) {
            return false;
        }
    }
    if (rproc->monitor->broken) {
        return false;
    }
    if (!elf32_section(&elf, ".resource_table", &part)) {
        link_fault(rproc->monitor, "firmware: no resource table");
        return false;
    }
    return take_table(rproc, &part);
}

/* Whether a ring is one that the host can serve with its memory. */
static bool is_sound(struct remoteproc *rproc, volatile struct resource_vring *vring, uint32_t bytes)
{
    uint32_t num = vring->num, align = vring->align;

    if (num == 0 || num > VRING_MAX || (num & (num - 1)) || align < 4 || align > 4096 || (align & (align - 1)) ||
        vring_bytes(num, align) > bytes) {
        link_fault(rproc->monitor, "firmware: a ring of %u descriptors aligned to %u does not fit %u bytes", num, align,
            bytes);
        return false;
    }
    return true;
}

bool remoteproc_place_vrings(struct remoteproc *rproc, const struct remoteproc_carveout *carveout,
    uint32_t buffer_bytes, struct rpmsg_host_memory *memory)
{
    volatile struct resource_vdev *vdev = rproc->vdev;

    if (!vdev || vdev->id != VIRTIO_ID_RPMSG || vdev->num_of_vrings != 2) {
        link_fault(rproc->monitor, "firmware: no RPMsg device with two rings in the resource table");
        return false;
    }
    if (!is_sound(rproc, &vdev->vring[0], carveout->vring_bytes) ||
        !is_sound(rproc, &vdev->vring[1], carveout->vring_bytes)) {
        return false;
    }
    if (vdev->vring[0].num != vdev->vring[1].num || 2 * vdev->vring[0].num * buffer_bytes > carveout->buffers_bytes) {
        link_fault(rproc->monitor, "firmware: rings of %u and %u buffers of %u bytes do not fit %u bytes",
            vdev->vring[0].num, vdev->vring[1].num, buffer_bytes, carveout->buffers_bytes);
        return false;
    }
    vdev->vring[0].da = (uint32_t)carveout->vring0;
    vdev->vring[1].da = (uint32_t)carveout->vring1;
    *memory = (struct rpmsg_host_memory){
        .vring0 = carveout->vring0,
        .vring1 = carveout->vring1,
        .num = vdev->vring[0].num,
        .align = vdev->vring[0].align,
        .buffers = carveout->buffers,
        .buffer_bytes = buffer_bytes,
    };
    return true;
}

void remoteproc_driver_ok(struct remoteproc *rproc)
{
    volatile struct resource_vdev *vdev = rproc->vdev;

    vdev->gfeatures = vdev->dfeatures & (1u << VIRTIO_RPMSG_F_NS);
    vring_barrier();
    vdev->status = VIRTIO_STATUS_ACKNOWLEDGE | VIRTIO_STATUS_DRIVER | VIRTIO_STATUS_DRIVER_OK;
    vring_barrier();
}
