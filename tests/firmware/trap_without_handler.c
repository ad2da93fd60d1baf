/* The trap vector itself points to nothing: after the first exception the core can't fetch any more. The simulator
   must say so and stop, not run on. */
#include "riscv.h"

int main(void)
{
    riscv_csr_write(mtvec, 0x20000000u);
    __asm__ volatile("ecall");
    return 0;
}
