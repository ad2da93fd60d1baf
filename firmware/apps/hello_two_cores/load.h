/* A loader of the M4's ELF file, as short as can be. */
#ifndef LOAD_H
#define LOAD_H

#include <stdint.h>

/* Copies the segments to the memories that the M4 sees there, and clears what is behind each. Gives 0, or ERROR_INVALID if it is no ELF file for an Arm
 * core, or one whose segments are elsewhere. */
int load_elf(const uint8_t *file, uint32_t bytes);

#endif
