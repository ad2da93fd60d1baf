/* An abort whose handler is what example code has: a branch to itself. */
#include "arm.h"

__asm__(".text\n.balign 32\nstuck_vectors:\n.rept 8\nb .\n.endr\n");
extern char stuck_vectors[];

int main(void)
{
    arm_cp15_write(0, c12, c0, 0, (uint32_t)stuck_vectors);
    arm_isb();
    return *(volatile int *)0x60000000; /* here */
}
