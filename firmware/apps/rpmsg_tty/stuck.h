/* The report's overflow: a writer that nobody wakes. */
#ifndef STUCK_H
#define STUCK_H

#include "tty.h"

/* See struct tty; its context is the test. Prints what the writer waits for, sleeps as it does, then prints each side's
 * wait, and ends the program with status 1. */
void stuck(struct tty *tty);

#endif
