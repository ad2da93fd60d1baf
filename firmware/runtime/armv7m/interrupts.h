/* Critical sections: code that no interrupt may cut in two. They may be nested. */
#ifndef INTERRUPTS_H
#define INTERRUPTS_H

#include <stdint.h>

/* Keeps interrupts out; gives what interrupts_restore needs. */
static inline uint32_t interrupts_save(void)
{
    uint32_t before;

    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before) : : "memory");
    return before;
}

static inline void interrupts_restore(uint32_t before)
{
    __asm__ volatile("msr primask, %0" : : "r"(before) : "memory");
}

#endif
