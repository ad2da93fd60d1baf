#include "exception.h"

#include "console.h"
#include "exit.h"
#include "mips.h"

#include <stdbool.h>

/* Cause.ExcCode: MD00090, table of the Cause register's ExcCode field. */
enum exception_code {
    CODE_MOD = 1,
    CODE_TLBL = 2,
    CODE_TLBS = 3,
    CODE_ADEL = 4,
    CODE_ADES = 5,
    CODE_CPU = 11,
    CODE_CACHE_ERROR = 30,
};

static const char *code_text(uint32_t code, bool refill)
{
    static const char *const texts[] = {
        "interrupt",
        "store to a page that the TLB has as read-only",
        "TLB entry is not valid for a load or fetch",
        "TLB entry is not valid for a store",
        "address error in a load or fetch",
        "address error in a store",
        "bus error in a fetch",
        "bus error in a load or store",
        "system call",
        "breakpoint",
        "reserved instruction",
        "coprocessor unusable",
        "integer overflow",
        "trap",
    };

    if (refill && (code == CODE_TLBL || code == CODE_TLBS)) {
        return code == CODE_TLBL ? "no TLB entry for a load or fetch" : "no TLB entry for a store";
    }
    if (code < sizeof texts / sizeof texts[0]) {
        return texts[code];
    }
    return code == CODE_CACHE_ERROR ? "cache error" : "exception";
}

static bool has_bad_address(uint32_t code)
{
    return code >= CODE_MOD && code <= CODE_ADES;
}

static void print_report(const struct exception *exception, uint32_t code)
{
    uint32_t pc = exception->kind == EXCEPTION_CACHE_ERROR ? exception->error_epc : exception->epc;

    console_print("\nexception: %s (ExcCode %u)", code_text(code, exception->kind == EXCEPTION_TLB_REFILL), code);
    if (exception->cause & MIPS_CAUSE_BD) {
        console_print(" at pc 0x%08x, in the delay slot of 0x%08x", pc + 4, pc);
    } else {
        console_print(" at pc 0x%08x", pc);
    }
    if (has_bad_address(code)) {
        console_print(", BadVAddr 0x%08x", exception->bad_address);
    }
    if (code == CODE_CPU) {
        console_print(", coprocessor %u", (exception->cause >> MIPS_CAUSE_CE_SHIFT) & MIPS_CAUSE_CE_MASK);
    }
    console_print(", ra 0x%08x, Status 0x%08x\n", exception->ra, exception->status);
}

_Noreturn void exception_report(const struct exception *exception)
{
    static int reporting;
    uint32_t code = exception->kind == EXCEPTION_CACHE_ERROR
                        ? CODE_CACHE_ERROR
                        : (exception->cause >> MIPS_CAUSE_EXCCODE_SHIFT) & MIPS_CAUSE_EXCCODE_MASK;

    if (reporting++) {
        /* An exception in the report itself: the console can't be trusted, the status still can. */
        console_disable();
    }
    print_report(exception, code);
    program_exit(EXCEPTION_EXIT + (int)code);
}
