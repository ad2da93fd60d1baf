/* Divisions whose operands the compiler can't know, in the instruction set that the board has. */
#include "console.h"

#include <stdint.h>

static const volatile uint32_t operands[][2] = {
    {100, 7}, {0xFFFFFFFF, 1}, {0xFFFFFFFF, 0xFFFFFFFE}, {0x80000000, 3}, {5, 9}, {0, 4},
};

int main(void)
{
    for (uint32_t i = 0; i < sizeof operands / sizeof operands[0]; i++) {
        uint32_t dividend = operands[i][0], divisor = operands[i][1];
        console_print("%u %u ", dividend / divisor, dividend % divisor);
        uint64_t wide = (uint64_t)dividend << 20 | 0xABCDE;
        console_print("%llu\n", (unsigned long long)(wide / divisor));
    }
    return 0;
}
