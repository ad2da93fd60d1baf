/* The end of a program where a debugger or an emulator takes it: semihosting, for both profiles. */
#include "exit.h"

#include "console.h"
/* Of the folders that a build names, which may be those of another profile: not the one beside this file. */
#include <interrupts.h>

/* Semihosting for AArch32 and AArch64, 2.0: SYS_EXIT_EXTENDED. */
#define SEMIHOSTING_SYS_EXIT_EXTENDED 0x20u
#define SEMIHOSTING_APPLICATION_EXIT 0x20026u

#if __ARM_ARCH_PROFILE == 'M'
#define SEMIHOSTING_CALL "bkpt 0xAB"
#else
#define SEMIHOSTING_CALL "svc 0x123456"
#endif

_Noreturn void program_exit(int status)
{
    uint32_t block[2] = {SEMIHOSTING_APPLICATION_EXIT, (uint32_t)status};

    console_flush();
    (void)interrupts_save();
    /* A call above would be free to change them. */
    register uint32_t operation __asm__("r0") = SEMIHOSTING_SYS_EXIT_EXTENDED;
    register uint32_t *argument __asm__("r1") = block;
    __asm__ volatile(SEMIHOSTING_CALL : "+r"(operation) : "r"(argument), "m"(block) : "lr", "memory");
    for (;;) {
        __asm__ volatile("wfi" : : : "memory");
    }
}
