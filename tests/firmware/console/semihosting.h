/* Semihosting calls of RISC-V and Arm programs that end, or print, without the runtime. */
#ifndef SEMIHOSTING_H
#define SEMIHOSTING_H

#include <stdint.h>

#define SEMIHOSTING_SYS_WRITE0 0x04u
#define SEMIHOSTING_SYS_EXIT 0x18u
#define SEMIHOSTING_APPLICATION_EXIT 0x20026u

static inline void semihosting_call(uint32_t number, uintptr_t value)
{
#if __riscv
    register uint32_t operation __asm__("a0") = number;
    register uintptr_t argument __asm__("a1") = value;
    __asm__ volatile(".option push\n"
                     ".option norvc\n"
                     ".balign 16\n"
                     "slli x0, x0, 0x1f\n"
                     "ebreak\n"
                     "srai x0, x0, 7\n"
                     ".option pop\n"
                     : "+r"(operation)
                     : "r"(argument)
                     : "memory");
#else
    register uint32_t operation __asm__("r0") = number;
    register uintptr_t argument __asm__("r1") = value;
    __asm__ volatile("svc 0x123456" : "+r"(operation) : "r"(argument) : "lr", "memory");
#endif
}

#endif
