/* The handling of unexpected exceptions. */
#ifndef EXCEPTION_H
#define EXCEPTION_H

#include <stdint.h>

/* Exit statuses of programs ended by an exception: these plus Cause.ExcCode. */
#define EXCEPTION_EXIT 64

/* By vector; vectors.S has the same numbers. */
enum exception_kind {
    EXCEPTION_GENERAL,
    EXCEPTION_TLB_REFILL,
    EXCEPTION_CACHE_ERROR,
};

/* As vectors.S lays it out. */
struct exception {
    uint32_t kind; /* enum exception_kind */
    uint32_t cause;
    uint32_t epc;
    uint32_t error_epc;
    uint32_t bad_address; /* BadVAddr */
    uint32_t status;
    uint32_t ra;
};

/* Prints the cause, the address of the instruction and that of the access, and ends the program with status 64 +
 * ExcCode. */
_Noreturn void exception_report(const struct exception *exception);

#endif
