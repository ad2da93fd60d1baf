#include "exit.h"

#include "console.h"
#include "riscv.h"

/* Semihosting for AArch32 and AArch64, 2.0: SYS_EXIT_EXTENDED; the RISC-V binding takes its numbers over. */
#define SEMIHOSTING_SYS_EXIT_EXTENDED 0x20u
#define SEMIHOSTING_APPLICATION_EXIT 0x20026u

/* The handler of the exit call's ebreak without a debugger. */
static _Noreturn void __attribute__((aligned(4))) exit_park(void)
{
    for (;;) {
        riscv_wait_for_interrupt();
    }
}

_Noreturn void program_exit(int status)
{
    uint32_t block[2] = {SEMIHOSTING_APPLICATION_EXIT, (uint32_t)status};
    register uint32_t operation __asm__("a0") = SEMIHOSTING_SYS_EXIT_EXTENDED;
    register uint32_t *argument __asm__("a1") = block;

    console_flush();
    riscv_csr_clear(mstatus, RISCV_MSTATUS_MIE);
    riscv_csr_write(mie, 0);
    riscv_csr_write(mtvec, (uintptr_t)exit_park);
    /* The three must be uncompressed and on one page: a debugger knows the call by them. */
    __asm__ volatile(".option push\n"
                     ".option norvc\n"
                     ".balign 16\n"
                     "slli x0, x0, 0x1f\n"
                     "ebreak\n"
                     "srai x0, x0, 7\n"
                     ".option pop\n"
                     : "+r"(operation)
                     : "r"(argument), "m"(block)
                     : "memory");
    exit_park();
}
