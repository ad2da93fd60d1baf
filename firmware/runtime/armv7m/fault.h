/* The handling of unexpected exceptions. */
#ifndef FAULT_H
#define FAULT_H

#include <stdint.h>

/* The registers that the core stacks at exception entry (DDI 0403E, B1.5.6); floating-point registers follow. */
struct fault_frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, psr;
};

/* The exit status of exception 0; the others count on from it. */
#define FAULT_EXIT 64

/* Prints the exception, its causes, the address of the instruction and of the access, and ends the program with status
 * 64 + the exception's number: a hard fault, which all faults are that are not enabled, 67. */
_Noreturn void fault_report(const struct fault_frame *frame, uint32_t exc_return);

#endif
