/* Prints a line by semihosting and does not end. */
#include "call.h"

int main(void)
{
    semihosting_call(SYS_WRITE0, (uintptr_t)"early\n");
    for (volatile uint32_t round = 0;; round++) {
    }
}
