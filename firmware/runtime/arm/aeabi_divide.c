/* Integer division, by the names of the run-time ABI for the ARM architecture (IHI 0043, 4.2 and 4.3.1): a Cortex-A5
 * has no instruction for it, other cores none for 64 bits. 32-bit quotient and remainder leave in r0 and r1, which are
 * those of a 64-bit value. */
#include "long_division.h"

#include <stdint.h>

uint32_t __aeabi_uidiv(uint32_t dividend, uint32_t divisor);
uint64_t __aeabi_uidivmod(uint32_t dividend, uint32_t divisor);
int32_t __aeabi_idiv(int32_t dividend, int32_t divisor);
uint64_t __aeabi_idivmod(int32_t dividend, int32_t divisor);
uint64_t aeabi_uldiv(uint64_t dividend, uint64_t divisor, uint64_t *remainder);

LONG_DIVISION(divide32, uint32_t, 32)
LONG_DIVISION(divide64, uint64_t, 64)

static uint64_t pair(uint32_t value, uint32_t remainder)
{
    return (uint64_t)remainder << 32 | value;
}

uint32_t __aeabi_uidiv(uint32_t dividend, uint32_t divisor)
{
    return divide32(dividend, divisor).value;
}

uint64_t __aeabi_uidivmod(uint32_t dividend, uint32_t divisor)
{
    struct divide32_result result = divide32(dividend, divisor);
    return pair(result.value, result.remainder);
}

static uint32_t magnitude(int32_t value)
{
    return value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
}

uint64_t __aeabi_idivmod(int32_t dividend, int32_t divisor)
{
    struct divide32_result result = divide32(magnitude(dividend), magnitude(divisor));
    /* Towards zero: the remainder has the dividend's sign. */
    return pair((dividend < 0) != (divisor < 0) ? 0u - result.value : result.value,
                dividend < 0 ? 0u - result.remainder : result.remainder);
}

int32_t __aeabi_idiv(int32_t dividend, int32_t divisor)
{
    return (int32_t)(uint32_t)__aeabi_idivmod(dividend, divisor);
}

/* For aeabi.S, which puts the remainder where it belongs. */
uint64_t aeabi_uldiv(uint64_t dividend, uint64_t divisor, uint64_t *remainder)
{
    if (((dividend | divisor) >> 32) == 0) {
        struct divide32_result result = divide32((uint32_t)dividend, (uint32_t)divisor);
        *remainder = result.remainder;
        return result.value;
    }
    struct divide64_result result = divide64(dividend, divisor);
    *remainder = result.remainder;
    return result.value;
}
