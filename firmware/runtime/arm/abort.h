/* The handling of unexpected exceptions. */
#ifndef ABORT_H
#define ABORT_H

#include <stdint.h>

/* The order in which vectors.S numbers them. */
enum abort_kind {
    ABORT_UNDEFINED,
    ABORT_SVC,
    ABORT_PREFETCH,
    ABORT_DATA,
    ABORT_IRQ,
    ABORT_FIQ,
};

/* The exit status of the first kind; the others count on from it. */
#define ABORT_EXIT 64

/* Prints the kind, the address of the instruction, the program status and the fault's address and status, and ends the
 * program with status 64 + kind. */
_Noreturn void abort_report(enum abort_kind kind, uint32_t pc, uint32_t psr);

#endif
