#include "trap.h"

#include "console.h"
#include "exit.h"
#include "riscv.h"

#define TRAP_INTERRUPTS 32u

static trap_exception_handler *exception_handler;
static trap_interrupt_handler *interrupt_handlers[TRAP_INTERRUPTS];

uint32_t trap_handle(uint32_t cause, uint32_t pc, uint32_t value);

static const char *cause_text(uint32_t cause)
{
    static const char *const texts[] = {
        "instruction address misaligned", "instruction access fault", "illegal instruction", "breakpoint",
        "load address misaligned", "load access fault", "store address misaligned", "store access fault",
    };
    if (cause < sizeof texts / sizeof texts[0]) {
        return texts[cause];
    }
    return cause == 11 ? "environment call from M-mode" : "exception";
}

static _Noreturn void report_and_exit(uint32_t cause, uint32_t pc, uint32_t value)
{
    static int reporting;
    uint32_t number = cause & ~RISCV_MCAUSE_INTERRUPT;

    if (reporting++) {
        /* A trap in the report itself: the console can't be trusted, the status still can. */
        console_disable();
    }
    if (cause & RISCV_MCAUSE_INTERRUPT) {
        console_print("\ntrap: interrupt %u without a handler at pc 0x%08x\n", number, pc);
        program_exit(TRAP_EXIT_INTERRUPT + (int)(number & 31));
    }
    console_print("\ntrap: %s (mcause %u) at pc 0x%08x, mtval 0x%08x\n", cause_text(cause), cause, pc, value);
    program_exit(TRAP_EXIT_EXCEPTION + (int)(number & 31));
}

uint32_t trap_handle(uint32_t cause, uint32_t pc, uint32_t value)
{
    uint32_t number = cause & ~RISCV_MCAUSE_INTERRUPT;

    if (cause & RISCV_MCAUSE_INTERRUPT) {
        if (number >= TRAP_INTERRUPTS || !interrupt_handlers[number]) {
            report_and_exit(cause, pc, value);
        }
        interrupt_handlers[number]();
        return pc;
    }
    if (!exception_handler) {
        report_and_exit(cause, pc, value);
    }
    return exception_handler(cause, pc, value);
}

void trap_on_exception(trap_exception_handler *handler)
{
    exception_handler = handler;
}

void trap_on_interrupt(uint32_t number, trap_interrupt_handler *handler)
{
    if (number < TRAP_INTERRUPTS) {
        interrupt_handlers[number] = handler;
    }
}

uint32_t trap_enable_interrupts(void)
{
    uint32_t before = riscv_csr_read(mstatus) & RISCV_MSTATUS_MIE;
    riscv_csr_set(mstatus, RISCV_MSTATUS_MIE);
    return before;
}

uint32_t trap_disable_interrupts(void)
{
    uint32_t before = riscv_csr_read(mstatus) & RISCV_MSTATUS_MIE;
    riscv_csr_clear(mstatus, RISCV_MSTATUS_MIE);
    return before;
}

void trap_restore_interrupts(uint32_t before)
{
    riscv_csr_set(mstatus, before & RISCV_MSTATUS_MIE);
}
