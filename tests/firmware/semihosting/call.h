/* The instruction by which a program calls its debugger, on each instruction set.

   Arm and RISC-V have semihosting (Semihosting for AArch32 and AArch64, 2.0; RISC-V Semihosting, 0.4): an operation
   with one parameter, mostly the address of a block of words. MIPS has its Unified Hosting Interface (MD01069). */
#ifndef CALL_H
#define CALL_H

#include <stdint.h>

#if defined(__mips__)

struct uhi_answer {
    int32_t value;
    /* If the value is -1. */
    int32_t error;
};

static inline struct uhi_answer uhi_call(uint32_t operation, uint32_t first, uint32_t second, uint32_t third)
{
    register uint32_t t9 __asm__("$25") = operation;
    register uint32_t a0 __asm__("$4") = first;
    register uint32_t a1 __asm__("$5") = second;
    register uint32_t a2 __asm__("$6") = third;
    register int32_t value __asm__("$2");
    register int32_t error __asm__("$3");

    __asm__ volatile("sdbbp 1" : "=r"(value), "=r"(error) : "r"(t9), "r"(a0), "r"(a1), "r"(a2) : "memory");
    return (struct uhi_answer){value, error};
}

#else

#define SYS_WRITE0 0x04u
#define SYS_EXIT 0x18u
#define APPLICATION_EXIT 0x20026u

static inline int32_t semihosting_call(uint32_t operation, uintptr_t parameter)
{
#if defined(__riscv)
    register uintptr_t number __asm__("a0") = operation;
    register uintptr_t argument __asm__("a1") = parameter;
    /* All three uncompressed and on one page: a debugger knows the call by them. */
    __asm__ volatile(".option push\n.option norvc\n.balign 16\n"
                     "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop\n"
                     : "+r"(number)
                     : "r"(argument)
                     : "memory");
#else
    register uintptr_t number __asm__("r0") = operation;
    register uintptr_t argument __asm__("r1") = parameter;
    /* A supervisor call overwrites lr in Supervisor mode. */
#if __ARM_ARCH_PROFILE == 'M'
    __asm__ volatile("bkpt 0xab" : "+r"(number) : "r"(argument) : "memory");
#elif defined(__thumb__)
    __asm__ volatile("svc 0xab" : "+r"(number) : "r"(argument) : "lr", "memory");
#else
    __asm__ volatile("svc 0x123456" : "+r"(number) : "r"(argument) : "lr", "memory");
#endif
#endif
    return (int32_t)number;
}

/* With a block of up to four words. */
static inline int32_t semihosting_call_with(uint32_t operation, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    uintptr_t block[4] = {a, b, c, d};

    return semihosting_call(operation, (uintptr_t)block);
}

#endif

#endif
