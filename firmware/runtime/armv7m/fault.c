#include "fault.h"

#include "armv7m.h"
#include "console.h"
#include "exit.h"

#define IPSR_EXCEPTION 0x1FFu
#define EXCEPTION_EXTERNAL 16u

#define CFSR_MMARVALID (1u << 7)
#define CFSR_BFARVALID (1u << 15)
#define HFSR_VECTTBL (1u << 1)

struct cause {
    uint32_t bit;
    const char *text;
};

/* Bits of CFSR: DDI 0403E, B3.2.15. */
static const struct cause causes[] = {
    {1u << 0, "instruction access violation"},
    {1u << 1, "data access violation"},
    {1u << 3, "access violation while leaving an exception"},
    {1u << 4, "access violation while entering an exception"},
    {1u << 5, "access violation while saving floating-point state"},
    {1u << 8, "instruction bus error"},
    {1u << 9, "precise data bus error"},
    {1u << 10, "imprecise data bus error"},
    {1u << 11, "bus error while leaving an exception"},
    {1u << 12, "bus error while entering an exception"},
    {1u << 13, "bus error while saving floating-point state"},
    {1u << 16, "undefined instruction"},
    {1u << 17, "invalid state"},
    {1u << 18, "invalid EXC_RETURN"},
    {1u << 19, "no coprocessor"},
    {1u << 24, "unaligned access"},
    {1u << 25, "division by zero"},
};

static const char *exception_text(uint32_t exception)
{
    static const char *const names[] = {
        [2] = "NMI", [3] = "hard fault", [4] = "memory management fault", [5] = "bus fault", [6] = "usage fault",
        [11] = "supervisor call", [12] = "debug monitor", [14] = "PendSV", [15] = "SysTick",
    };
    const char *name = exception < sizeof names / sizeof names[0] ? names[exception] : 0;

    return name ? name : "exception";
}

static void print_causes(uint32_t cfsr)
{
    for (uint32_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        if (cfsr & causes[i].bit) {
            console_print(": %s", causes[i].text);
        }
    }
    if (cfsr & CFSR_MMARVALID) {
        console_print(" at 0x%08x", mmio_read(ARMV7M_SCS_BASE, SCB_MMFAR));
    } else if (cfsr & CFSR_BFARVALID) {
        console_print(" at 0x%08x", mmio_read(ARMV7M_SCS_BASE, SCB_BFAR));
    }
}

_Noreturn void fault_report(const struct fault_frame *frame, uint32_t exc_return)
{
    static int reporting;
    uint32_t exception;

    __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
    exception &= IPSR_EXCEPTION;
    if (reporting++) {
        /* A fault in the report itself: the console can't be trusted, the status still can. */
        console_disable();
    }
    if (exception >= EXCEPTION_EXTERNAL) {
        console_print("\ninterrupt %u without a handler", exception - EXCEPTION_EXTERNAL);
    } else {
        console_print("\n%s", exception_text(exception));
        print_causes(mmio_read(ARMV7M_SCS_BASE, SCB_CFSR));
        if (mmio_read(ARMV7M_SCS_BASE, SCB_HFSR) & HFSR_VECTTBL) {
            console_print(": vector read failed");
        }
    }
    console_print(
        ", pc 0x%08x, lr 0x%08x, psr 0x%08x, EXC_RETURN 0x%08x\n", frame->pc, frame->lr, frame->psr, exc_return);
    program_exit(FAULT_EXIT + (int)exception);
}
