#include "elf32.h"

#include "string.h"

#define CLASS_32 1u
#define LITTLE_ENDIAN_DATA 1u
#define TYPE_EXEC 2u
#define MACHINE_ARM 40u
#define SEGMENT_LOAD 1u

struct header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version, entry, phoff, shoff, flags;
    uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct program_header {
    uint32_t type, offset, vaddr, paddr, filesz, memsz, flags, align;
};

struct section_header {
    uint32_t name, type, flags, addr, offset, size, link, info, addralign, entsize;
};

static const struct header *header_of(const struct elf32_image *image)
{
    return (const struct header *)(const void *)image->data;
}

static bool is_inside(const struct elf32_image *image, uint32_t offset, uint32_t bytes)
{
    return offset <= image->bytes && bytes <= image->bytes - offset;
}

static bool refuse(const struct elf32_image *image, const char *what, uint32_t value)
{
    link_fault(image->monitor, "firmware: %s (0x%x) in a file of %u bytes", what, value, image->bytes);
    return false;
}

static bool has_right_kind(const struct elf32_image *image)
{
    const struct header *header = header_of(image);

    if (memcmp(header->ident, "\177ELF", 4) != 0) {
        return refuse(image, "no ELF file", header->ident[0]);
    }
    if (header->ident[4] != CLASS_32 || header->ident[5] != LITTLE_ENDIAN_DATA) {
        return refuse(image, "not 32 bits, little-endian", header->ident[4]);
    }
    if (header->type != TYPE_EXEC || header->machine != MACHINE_ARM) {
        return refuse(image, "no executable for Arm", header->machine);
    }
    return true;
}

bool elf32_check(const struct elf32_image *image)
{
    const struct header *header = header_of(image);

    if (((uintptr_t)image->data & 3) || image->bytes < sizeof *header) {
        return refuse(image, "no place for an ELF header", image->bytes);
    }
    if (!has_right_kind(image)) {
        return false;
    }
    if (header->phentsize != sizeof(struct program_header) || (header->phoff & 3) ||
        !is_inside(image, header->phoff, header->phnum * (uint32_t)sizeof(struct program_header))) {
        return refuse(image, "program headers outside of the file", header->phoff);
    }
    if (header->shnum &&
        (header->shentsize != sizeof(struct section_header) || (header->shoff & 3) ||
            header->shstrndx >= header->shnum ||
            !is_inside(image, header->shoff, header->shnum * (uint32_t)sizeof(struct section_header)))) {
        return refuse(image, "section headers outside of the file", header->shoff);
    }
    return true;
}

unsigned int elf32_segments(const struct elf32_image *image)
{
    return header_of(image)->phnum;
}

bool elf32_segment(const struct elf32_image *image, unsigned int index, struct elf32_part *part)
{
    const struct program_header *segment =
        (const struct program_header *)(const void *)(image->data + header_of(image)->phoff) + index;

    if (segment->type != SEGMENT_LOAD || segment->memsz == 0) {
        return false;
    }
    if (segment->filesz > segment->memsz) {
        return refuse(image, "a segment with more bytes than memory", segment->paddr);
    }
    if (!is_inside(image, segment->offset, segment->filesz)) {
        return refuse(image, "a segment outside of the file", segment->offset);
    }
    *part = (struct elf32_part){image->data + segment->offset, segment->paddr, segment->filesz, segment->memsz};
    return true;
}

static const struct section_header *sections_of(const struct elf32_image *image)
{
    return (const struct section_header *)(const void *)(image->data + header_of(image)->shoff);
}

/* Whether a section's name, an offset into the table of strings, is `name`. */
static bool is_named(const struct elf32_image *image, const struct section_header *section, const char *name)
{
    const struct section_header *strings = &sections_of(image)[header_of(image)->shstrndx];
    uint32_t bytes = (uint32_t)strlen(name) + 1;

    return is_inside(image, strings->offset, strings->size) && section->name <= strings->size &&
        bytes <= strings->size - section->name &&
        memcmp(image->data + strings->offset + section->name, name, bytes) == 0;
}

bool elf32_section(const struct elf32_image *image, const char *name, struct elf32_part *part)
{
    for (unsigned int i = 0; i < header_of(image)->shnum; i++) {
        const struct section_header *section = &sections_of(image)[i];

        if (is_named(image, section, name)) {
            if (!is_inside(image, section->offset, section->size)) {
                return refuse(image, "a section outside of the file", section->offset);
            }
            *part = (struct elf32_part){image->data + section->offset, section->addr, section->size, section->size};
            return true;
        }
    }
    return false;
}
