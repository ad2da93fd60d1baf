/* The debug registers as Linux's hw_breakpoint.c uses them when it starts, and ThumbEE's. */
#include <stdint.h>

#include "result.h"

#define READ(opc1, crn, crm, opc2)                                                                                    \
    ({                                                                                                                \
        uint32_t value_;                                                                                              \
        __asm__ volatile("mrc p14, " #opc1 ", %0, " #crn ", " #crm ", " #opc2 : "=r"(value_));                        \
        value_;                                                                                                       \
    })
#define WRITE(opc1, crn, crm, opc2, value)                                                                            \
    __asm__ volatile("mcr p14, " #opc1 ", %0, " #crn ", " #crm ", " #opc2 : : "r"((uint32_t)(value)))

int main(void)
{
    uint32_t low, high;

    result_number("didr", "", READ(0, c0, c0, 0));
    result_number("oslsr", "", READ(0, c1, c1, 4));
    result_number("osdlr", "", READ(0, c1, c3, 4));
    WRITE(0, c1, c0, 4, 0);
    __asm__ volatile("isb");
    result_number("unlocked", "", READ(0, c1, c1, 4));
    WRITE(0, c0, c7, 0, 0);
    WRITE(0, c0, c5, 4, 0x12345678u);
    WRITE(0, c0, c5, 5, 0);
    WRITE(0, c0, c3, 7, 0x1fe0u);
    result_number("bvr5", "", READ(0, c0, c5, 4));
    result_number("wcr3", "", READ(0, c0, c3, 7));
    WRITE(0, c0, c2, 2, READ(0, c0, c1, 0) | 1u << 15);
    result_number("dscr", "", READ(0, c0, c1, 0));
    __asm__ volatile("mrrc p14, 0, %0, %1, c1" : "=r"(low), "=r"(high));
    result_number("drar", "", low | high);
    WRITE(6, c1, c0, 0, 0x1000u);
    result_number("teehbr", "", READ(6, c1, c0, 0));
    result_number("teecr", "", READ(6, c0, c0, 0));
    return 0;
}
