/* A remote's program as an ELF file, whole and with each kind of damage: it is loaded, or refused with the reason. */
#include "console.h"
#include "remoteproc.h"
#include "string.h"

#define REMOTE_BASE 0x10000000u
#define REMOTE_BYTES 0x1000u
#define TABLE_OFFSET 0x40u
#define CODE_BYTES 0x100u

/* Offsets of fields (System V ABI, chapters 4 and 5). */
#define E_TYPE 16u
#define E_MACHINE 18u
#define E_PHOFF 28u
#define E_SHSTRNDX 50u

struct image {
    uint32_t header[13];
    uint32_t program[8];
    uint32_t sections[3][10];
    char names[32];
    uint8_t code[CODE_BYTES];
};

static uint8_t remote[REMOTE_BYTES] __attribute__((aligned(16)));
static struct image image;
static struct link_monitor monitor;
static const struct remoteproc_memory memory = {REMOTE_BASE, REMOTE_BYTES, (uintptr_t)remote};
static struct remoteproc rproc = {.monitor = &monitor, .memories = &memory, .memory_count = 1};

static void print_fault(struct link_monitor *broken)
{
    console_print("  %s\n", broken->text);
}

static struct resource_table *table_of(struct image *whole)
{
    return (struct resource_table *)(void *)(whole->code + TABLE_OFFSET);
}

static void put16(uint32_t offset, uint16_t value)
{
    memcpy((uint8_t *)&image + offset, &value, sizeof value);
}

static void make_table(struct resource_table *table)
{
    memset(table, 0, sizeof *table);
    table->header = (struct resource_table_header){.ver = 1, .num = 2};
    table->offset[0] = offsetof(struct resource_table, vdev);
    table->offset[1] = offsetof(struct resource_table, trace);
    table->vdev = (struct resource_vdev){.type = RSC_VDEV, .id = VIRTIO_ID_RPMSG, .dfeatures = 1, .num_of_vrings = 2,
        .vring = {{RSC_ADDR_ANY, 16, 16, 0, 0}, {RSC_ADDR_ANY, 16, 16, 1, 0}}};
    table->trace = (struct resource_trace){.type = RSC_TRACE, .da = REMOTE_BASE + 0x800u, .len = 64, .name = "log"};
}

static void make_image(void)
{
    static const uint8_t ident[16] = {0x7F, 'E', 'L', 'F', 1, 1, 1};
    static const char names[] = "\0.resource_table\0.shstrtab";

    memset(&image, 0, sizeof image);
    memcpy(image.header, ident, sizeof ident);
    image.header[4] = 40u << 16 | 2u;
    image.header[7] = offsetof(struct image, program);
    image.header[8] = offsetof(struct image, sections);
    image.header[10] = 32u << 16 | 52u;
    image.header[11] = 40u << 16 | 1u;
    image.header[12] = 2u << 16 | 3u;
    memcpy(image.program,
        (uint32_t[8]){1, offsetof(struct image, code), REMOTE_BASE, REMOTE_BASE, CODE_BYTES, 2 * CODE_BYTES, 5, 4}, 32);
    memcpy(image.sections[1],
        (uint32_t[10]){1, 1, 3, REMOTE_BASE + TABLE_OFFSET, offsetof(struct image, code) + TABLE_OFFSET,
            sizeof(struct resource_table)},
        40);
    memcpy(image.sections[2], (uint32_t[10]){17, 3, 0, 0, offsetof(struct image, names), sizeof image.names}, 40);
    memcpy(image.names, names, sizeof names);
    for (uint32_t i = 0; i < CODE_BYTES; i++) {
        image.code[i] = (uint8_t)(i ^ 0x5A);
    }
    make_table(table_of(&image));
}

static void whole(void) {}
static void magic(void) { image.header[0] ^= 1; }
static void wide(void) { ((uint8_t *)&image)[4] = 2; }
static void machine(void) { put16(E_MACHINE, 62); }
static void object_file(void) { put16(E_TYPE, 1); }
static void program_headers(void) { image.header[7] = sizeof image; }
static void names_index(void) { put16(E_SHSTRNDX, 3); }
static void segment_offset(void) { image.program[1] = sizeof image - 1; }
static void segment_sizes(void) { image.program[5] = CODE_BYTES - 1; }
static void segment_address(void) { image.program[3] = 0x20000000u; }
static void segment_end(void) { image.program[3] = REMOTE_BASE + REMOTE_BYTES - CODE_BYTES; }
static void no_table(void) { image.names[1] = 'x'; }
static void table_outside(void) { image.sections[1][3] = REMOTE_BASE + REMOTE_BYTES; }
static void table_version(void) { table_of(&image)->header.ver = 2; }
static void table_count(void) { table_of(&image)->header.num = 100; }
static void entry_offset(void) { table_of(&image)->offset[1] = sizeof(struct resource_table); }
static void no_device(void) { table_of(&image)->vdev.id = 3; }
static void ring_size(void) { table_of(&image)->vdev.vring[1].num = 24; }
static void ring_sizes(void) { table_of(&image)->vdev.vring[1].num = 8; }

static void try(const char *name, void (*damage)(void))
{
    static const struct remoteproc_carveout carveout = {.vring0 = 0x10040000u,
        .vring1 = 0x10041000u,
        .buffers = 0x10042000u,
        .vring_bytes = 0x1000u,
        .buffers_bytes = 0x4000u};
    struct rpmsg_host_memory host = {0};
    bool loaded, placed;

    console_print("%s\n", name);
    make_image();
    damage();
    memset(remote, 0xEE, sizeof remote);
    monitor = (struct link_monitor){.report = print_fault};
    loaded = remoteproc_load(&rproc, (const uint8_t *)&image, sizeof image);
    placed = loaded && remoteproc_place_vrings(&rproc, &carveout, 512, &host);
    if (placed) {
        remoteproc_driver_ok(&rproc);
        console_print("  code %x %x %x, vrings %x %x of %u, status %u, features %u, trace at %x\n", remote[0],
            remote[CODE_BYTES - 1], remote[CODE_BYTES],
            table_of((struct image *)(remote - offsetof(struct image, code)))->vdev.vring[0].da,
            rproc.vdev->vring[1].da, host.num, rproc.vdev->status, rproc.vdev->gfeatures,
            (uint32_t)((uintptr_t)rproc.trace - (uintptr_t)remote));
    }
}

#define TRY(damage) try(#damage, damage)

int main(void)
{
    TRY(whole);
    TRY(magic);
    TRY(wide);
    TRY(machine);
    TRY(object_file);
    TRY(program_headers);
    TRY(names_index);
    TRY(segment_offset);
    TRY(segment_sizes);
    TRY(segment_address);
    TRY(segment_end);
    TRY(no_table);
    TRY(table_outside);
    TRY(table_version);
    TRY(table_count);
    TRY(entry_offset);
    TRY(no_device);
    TRY(ring_size);
    TRY(ring_sizes);
    return 0;
}
