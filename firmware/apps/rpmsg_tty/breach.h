/* The link broken on purpose, by this core (settings fault, fault_side). */
#ifndef BREACH_H
#define BREACH_H

#include <stdint.h>

#include "tty.h"

/* Breaks the link after the first block, if this core is to. */
void breach_after_block(struct tty *tty, uint32_t block);

#endif
