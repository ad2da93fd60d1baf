/* The contents of the flash: a pattern from which each byte's address follows. */
#ifndef CONTENTS_H
#define CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

/* The word at a word's address. */
uint32_t contents_word(uint32_t address);

/* Whether `bytes` that were read from `address` on are those. */
bool contents_are_there(const uint32_t *words, uint32_t address, uint32_t bytes);

/* Programs erased pages through the data registers. False if the flash does not get ready. */
bool contents_program(uint32_t address, uint32_t bytes);

/* The same through the window, scrambled, while scrambling is on. The window must not be cached. */
bool contents_program_scrambled(uint32_t address, uint32_t bytes);

/* Scrambling of what passes the window from now on, with a key of the program's. */
void contents_scramble(bool on);

#endif
