/* The report's overflow: a writer that nobody wakes. */
#ifndef STUCK_H
#define STUCK_H

#include "tty.h"

/* See struct tty. Says what the writer waits for, sleeps as it does, then tells who waits for what, and ends the program with status 1. */
void stuck(struct tty *tty, uint32_t accepted, uint32_t sent, uint32_t bytes);

/* What was written before the write that got stuck, for the same. */
void stuck_count_before(uint32_t bytes);

#endif
