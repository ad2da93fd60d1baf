/* Firmware of a remote processor as an ELF32 file in memory (System V ABI, chapters 4 and 5), checked before anything
 * of it is used. */
#ifndef ELF32_H
#define ELF32_H

#include <stdbool.h>
#include <stdint.h>

#include "link_fault.h"

struct elf32_image {
    const uint8_t *data;
    uint32_t bytes;
    struct link_monitor *monitor;
};

/* A part of the file. */
struct elf32_part {
    const uint8_t *data;
    uint32_t address, file_bytes, memory_bytes;
};

/* Whether it is an executable for a 32-bit little-endian Arm whose tables are inside of the file; a fault says why
 * not. */
bool elf32_check(const struct elf32_image *image);

/* How many program headers there are. */
unsigned int elf32_segments(const struct elf32_image *image);

/* A segment that is to be loaded, or false. Its values are checked: a fault and false if they are wrong. */
bool elf32_segment(const struct elf32_image *image, unsigned int index, struct elf32_part *part);

/* The section of a name, or false. */
bool elf32_section(const struct elf32_image *image, const char *name, struct elf32_part *part);

#endif
