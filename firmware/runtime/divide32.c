/* 32-bit division for a core that does not divide, by the names that the RISC-V ABI's compilers call. */
#include <stdint.h>

uint32_t __udivsi3(uint32_t dividend, uint32_t divisor);
uint32_t __umodsi3(uint32_t dividend, uint32_t divisor);

struct quotient32 {
    uint32_t value;
    uint32_t remainder;
};

/* One bit a step, as by hand. Division by 0 gives all ones and the dividend, as the M extension has it. */
static struct quotient32 divide32(uint32_t dividend, uint32_t divisor)
{
    struct quotient32 result = {0, 0};

    for (int bit = 31; bit >= 0; bit--) {
        /* The remainder's top bit may be shifted out: it then exceeds any divisor. */
        uint32_t carry = result.remainder >> 31;
        result.remainder = result.remainder << 1 | ((dividend >> bit) & 1);
        result.value <<= 1;
        if (carry || result.remainder >= divisor) {
            result.remainder -= divisor;
            result.value |= 1;
        }
    }
    return result;
}

uint32_t __udivsi3(uint32_t dividend, uint32_t divisor)
{
    return divide32(dividend, divisor).value;
}

uint32_t __umodsi3(uint32_t dividend, uint32_t divisor)
{
    return divide32(dividend, divisor).remainder;
}
