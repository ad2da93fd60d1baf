/* Prints a line by semihosting and does not end. */
#include "semihosting.h"

int main(void)
{
    semihosting_call(SEMIHOSTING_SYS_WRITE0, (uintptr_t)"early\n");
    for (volatile uint32_t round = 0;; round++) {
    }
}
