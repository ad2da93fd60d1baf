/* The switch from one thread to another, in assembly. */
#ifndef SWITCH_H
#define SWITCH_H

#include "kernel.h"

/* Leaves `from` in the middle of this call and goes on with `to` where it left; a thread that has not run begins at its
 * context's ra. With interrupts kept out. */
void switch_to(struct thread_context *from, const struct thread_context *to);

#endif
