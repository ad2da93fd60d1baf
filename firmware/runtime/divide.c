/* 64-bit division for a 32-bit core, by the names that the RISC-V ABI's compilers call. */
#include "long_division.h"

#include <stdint.h>

uint64_t __udivdi3(uint64_t dividend, uint64_t divisor);
uint64_t __umoddi3(uint64_t dividend, uint64_t divisor);

LONG_DIVISION(divide64, uint64_t, 64)

static int fit_32_bits(uint64_t dividend, uint64_t divisor)
{
    return ((dividend | divisor) >> 32) == 0 && divisor;
}

uint64_t __udivdi3(uint64_t dividend, uint64_t divisor)
{
    return fit_32_bits(dividend, divisor) ? (uint32_t)dividend / (uint32_t)divisor : divide64(dividend, divisor).value;
}

uint64_t __umoddi3(uint64_t dividend, uint64_t divisor)
{
    return fit_32_bits(dividend, divisor) ? (uint32_t)dividend % (uint32_t)divisor
                                          : divide64(dividend, divisor).remainder;
}
