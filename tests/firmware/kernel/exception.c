/* Unexpected exceptions: a definition chooses one, and the marked line causes it. */
#include <stdint.h>

int main(void)
{
    volatile uint32_t *nowhere = (volatile uint32_t *)0x00400010;
    volatile uint32_t words[2] = {1, 2};
    uint32_t value = 0;

#if EXCEPTION_LOAD
    value = *nowhere;
#elif EXCEPTION_STORE
    *nowhere = 1;
#elif EXCEPTION_ODD_LOAD
    value = *(volatile uint32_t *)((uintptr_t)words + 2);
#elif EXCEPTION_ODD_STORE
    *(volatile uint16_t *)((uintptr_t)words + 1) = 1;
#elif EXCEPTION_FETCH
    ((void (*)(void))0x00400010)();
#elif EXCEPTION_RESERVED
    __asm__ volatile(".word 0x7c00003f");
#elif EXCEPTION_COPROCESSOR
    __asm__ volatile(".word 0x44001000");
#elif EXCEPTION_SYSCALL
    __asm__ volatile("syscall");
#elif EXCEPTION_BREAK
    __asm__ volatile("break 3");
#elif EXCEPTION_OVERFLOW
    __asm__ volatile(".set noat\n\tlui $1, 0x7fff\n\tadd %0, $1, $1" : "=r"(value) : : "$1");
#elif EXCEPTION_TRAP
    __asm__ volatile("teq $0, $0");
#elif EXCEPTION_DELAY_SLOT
    __asm__ volatile(".set push\n\t.set noreorder\n\tb 1f\n\tlw %0, 0(%1)\n1:\n\t.set pop"
        : "=r"(value)
        : "r"(nowhere));
#endif
    (void)nowhere;
    return (int)(value + words[0]);
}
