/* 64-bit division for a 32-bit core, by the names that the RISC-V ABI's compilers call. */
#include <stdint.h>

uint64_t __udivdi3(uint64_t dividend, uint64_t divisor);
uint64_t __umoddi3(uint64_t dividend, uint64_t divisor);

struct quotient {
    uint64_t value;
    uint64_t remainder;
};

/* One bit a step, as by hand. Division by 0 gives all ones and the dividend, as the M extension has it. */
static struct quotient divide(uint64_t dividend, uint64_t divisor)
{
    struct quotient result = {0, 0};

    if (((dividend | divisor) >> 32) == 0 && divisor) {
        result.value = (uint32_t)dividend / (uint32_t)divisor;
        result.remainder = (uint32_t)dividend % (uint32_t)divisor;
        return result;
    }
    for (int bit = 63; bit >= 0; bit--) {
        /* The remainder's top bit may be shifted out: it then exceeds any divisor. */
        uint64_t carry = result.remainder >> 63;
        result.remainder = result.remainder << 1 | ((dividend >> bit) & 1);
        result.value <<= 1;
        if (carry || result.remainder >= divisor) {
            result.remainder -= divisor;
            result.value |= 1;
        }
    }
    return result;
}

uint64_t __udivdi3(uint64_t dividend, uint64_t divisor)
{
    return divide(dividend, divisor).value;
}

uint64_t __umoddi3(uint64_t dividend, uint64_t divisor)
{
    return divide(dividend, divisor).remainder;
}
