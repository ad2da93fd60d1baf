/* The end of a program where a debugger or an emulator takes it: semihosting. */
#include "exit.h"

#include "armv7m.h"
#include "console.h"

/* Semihosting for AArch32 and AArch64, 2.0: SYS_EXIT_EXTENDED. */
#define SEMIHOSTING_SYS_EXIT_EXTENDED 0x20u
#define SEMIHOSTING_APPLICATION_EXIT 0x20026u

_Noreturn void program_exit(int status)
{
    uint32_t block[2] = {SEMIHOSTING_APPLICATION_EXIT, (uint32_t)status};
    register uint32_t operation __asm__("r0") = SEMIHOSTING_SYS_EXIT_EXTENDED;
    register uint32_t *argument __asm__("r1") = block;

    console_flush();
    armv7m_disable_interrupts();
    __asm__ volatile("bkpt 0xAB" : "+r"(operation) : "r"(argument), "m"(block) : "memory");
    for (;;) {
        armv7m_wait_for_interrupt();
    }
}
