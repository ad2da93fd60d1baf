/* 32-bit division for a core that does not divide, by the names that the RISC-V ABI's compilers call. */
#include "long_division.h"

#include <stdint.h>

uint32_t __udivsi3(uint32_t dividend, uint32_t divisor);
uint32_t __umodsi3(uint32_t dividend, uint32_t divisor);

LONG_DIVISION(divide32, uint32_t, 32)

uint32_t __udivsi3(uint32_t dividend, uint32_t divisor)
{
    return divide32(dividend, divisor).value;
}

uint32_t __umodsi3(uint32_t dividend, uint32_t divisor)
{
    return divide32(dividend, divisor).remainder;
}
