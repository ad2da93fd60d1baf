/* wfi with nothing enabled that could wake it: no event is left in the machine. */
#include "riscv.h"

int main(void)
{
    riscv_csr_write(mie, 0);
    for (;;) {
        riscv_wait_for_interrupt();
    }
}
