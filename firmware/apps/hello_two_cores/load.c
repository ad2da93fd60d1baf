#include "load.h"

#include "board.h"
#include "error.h"
#include "string.h"

/* ELF for the Arm architecture (IHI 0044), 32 bits, little-endian. */
#define EM_ARM 40u
#define PT_LOAD 1u

struct elf_header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version, entry, phoff, shoff, flags;
    uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct program_header {
    uint32_t type, offset, vaddr, paddr, filesz, memsz, flags, align;
};

/* Where this core sees an address of the M4's, or 0 if the M4 has no memory of that size there. */
static uint8_t *place(uint32_t address, uint32_t bytes)
{
    if (bytes <= BOARD_RETRAM_BYTES && address <= BOARD_RETRAM_BYTES - bytes) {
        return (uint8_t *)(BOARD_RETRAM_BASE + address);
    }
    if (address >= BOARD_MCU_SRAM_BASE && bytes <= BOARD_MCU_SRAM_BYTES && address - BOARD_MCU_SRAM_BASE <= BOARD_MCU_SRAM_BYTES - bytes) {
        return (uint8_t *)address;
    }
    return 0;
}

static int load_segment(const uint8_t *file, uint32_t bytes, const struct program_header *segment)
{
    uint8_t *to = place(segment->paddr, segment->memsz);

    if (!to || segment->filesz > segment->memsz || segment->offset > bytes || segment->filesz > bytes - segment->offset) {
        return ERROR_INVALID;
    }
    memcpy(to, file + segment->offset, segment->filesz);
    memset(to + segment->filesz, 0, segment->memsz - segment->filesz);
    return 0;
}

int load_elf(const uint8_t *file, uint32_t bytes)
{
    const struct elf_header *header = (const struct elf_header *)(const void *)file;

    if (bytes < sizeof *header || memcmp(header->ident, "\177ELF\1\1", 6) || header->machine != EM_ARM ||
        header->phentsize != sizeof(struct program_header) || header->phoff > bytes ||
        header->phnum > (bytes - header->phoff) / sizeof(struct program_header)) {
        return ERROR_INVALID;
    }
    const struct program_header *segments = (const struct program_header *)(const void *)(file + header->phoff);
    for (uint32_t i = 0; i < header->phnum; i++) {
        int error = segments[i].type == PT_LOAD && segments[i].memsz ? load_segment(file, bytes, &segments[i]) : 0;
        if (error) {
            return error;
        }
    }
    return 0;
}
