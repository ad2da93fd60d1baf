/* Console and end of a program where a debugger or an emulator takes them: MIPS Unified Hosting Interface (MD01069). */
#include "console.h"
#include "exit.h"
#include "mips.h"

#define UHI_EXIT 1u
#define UHI_WRITE 5u

#define UHI_STDOUT 1u

static void uhi_call(uint32_t operation, uint32_t first, uint32_t second, uint32_t third)
{
    register uint32_t t9 __asm__("$25") = operation;
    register uint32_t a0 __asm__("$4") = first;
    register uint32_t a1 __asm__("$5") = second;
    register uint32_t a2 __asm__("$6") = third;

    /* The answer is not used: an error could only be reported in the same way. */
    __asm__ volatile("sdbbp 1" : : "r"(t9), "r"(a0), "r"(a1), "r"(a2) : "$2", "$3", "memory");
}

void console_uart_put(char character)
{
    uhi_call(UHI_WRITE, UHI_STDOUT, (uint32_t)&character, sizeof character);
}

void console_uart_flush(void)
{
}

_Noreturn void program_exit(int status)
{
    mips_write_status(mips_read_status() & ~MIPS_STATUS_IE);
    for (;;) {
        uhi_call(UHI_EXIT, (uint32_t)status, 0, 0);
    }
}
