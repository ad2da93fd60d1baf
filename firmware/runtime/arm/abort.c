#include "abort.h"

#include "arm.h"
#include "console.h"
#include "exit.h"

/* FSR of the short-descriptor format: ARM ARM, table B3-23. Bit 10 is bit 4 of the status. */
static const char *fault_text(uint32_t fsr)
{
    switch ((fsr & 0xFu) | ((fsr >> 6) & 0x10u)) {
    case 0x01: return "alignment fault";
    case 0x02: return "debug event";
    case 0x05: return "translation fault, section";
    case 0x07: return "translation fault, page";
    case 0x08: return "external abort";
    case 0x09: return "domain fault, section";
    case 0x0B: return "domain fault, page";
    case 0x0C: return "external abort in a table walk, first level";
    case 0x0D: return "permission fault, section";
    case 0x0E: return "external abort in a table walk, second level";
    case 0x0F: return "permission fault, page";
    case 0x16: return "asynchronous external abort";
    default: return "fault";
    }
}

_Noreturn void abort_report(enum abort_kind kind, uint32_t pc, uint32_t psr)
{
    static int reporting;

    if (reporting++) {
        /* An exception in the report itself: the console can't be trusted, the status still can. */
        console_disable();
    }
    switch (kind) {
    case ABORT_UNDEFINED: console_print("\nundefined instruction at pc 0x%08x, psr 0x%08x\n", pc, psr); break;
    case ABORT_SVC: console_print("\nsupervisor call without a handler at pc 0x%08x, psr 0x%08x\n", pc, psr); break;
    case ABORT_PREFETCH:
        console_print("\nprefetch abort: %s (IFSR 0x%08x) at pc 0x%08x, IFAR 0x%08x, psr 0x%08x\n",
            fault_text(arm_read_ifsr()), arm_read_ifsr(), pc, arm_read_ifar(), psr);
        break;
    case ABORT_DATA:
        console_print("\ndata abort: %s (DFSR 0x%08x, %s) at pc 0x%08x, DFAR 0x%08x, psr 0x%08x\n",
            fault_text(arm_read_dfsr()), arm_read_dfsr(), arm_read_dfsr() & (1u << 11) ? "write" : "read", pc,
            arm_read_dfar(), psr);
        break;
    case ABORT_IRQ: console_print("\ninterrupt without a handler at pc 0x%08x, psr 0x%08x\n", pc, psr); break;
    case ABORT_FIQ: console_print("\nfast interrupt without a handler at pc 0x%08x, psr 0x%08x\n", pc, psr); break;
    }
    program_exit(ABORT_EXIT + (int)kind);
}
