/* How many cycles rows of loads and stores take that alternate between two addresses: each is between two reads of the
 * cycle counter (DWT_CYCCNT), behind a load of the first address. */
#include "console.h"
#include "mmio.h"

#include <stdint.h>

#define DEMCR 0xE000EDFCu
#define DEMCR_TRCENA (1u << 24)
#define DWT_CTRL 0xE0001000u
#define DWT_CYCCNT 0xE0001004u
#define RUNS 3

#define ROW(name, pair)                                                                                               \
    uint32_t name(uintptr_t first, uintptr_t second, uintptr_t counter);                                              \
    __asm__(".pushsection .text." #name ", \"ax\", %progbits\n"                                                       \
            ".balign 8\n.global " #name "\n.type " #name ", %function\n.thumb_func\n" #name ":\n"                     \
            "push {r4-r7, lr}\nldr r4, [r0]\n.balign 8\nnop.w\nldr r5, [r2]\nnop\n"                                  \
            ".rept 8\n" pair "\n.endr\n"                                                                              \
            "nop\nldr r6, [r2]\nsubs r0, r6, r5\npop {r4-r7, pc}\n.popsection");
ROW(loads, "ldr r3, [r0]\nldr r4, [r1]")
ROW(stores, "str r3, [r0]\nstr r3, [r1]")

/* The last of some runs: a simulator may compile what ran before. */
static uint32_t last(uint32_t (*row)(uintptr_t, uintptr_t, uintptr_t), uintptr_t first, uintptr_t second)
{
    uint32_t cycles = 0;

    for (int i = 0; i < RUNS; i++) {
        cycles = row(first, second, DWT_CYCCNT);
    }
    return cycles;
}

int main(void)
{
    static const struct {
        const char *name;
        uintptr_t first, second;
    } pairs[] = {
        {"one memory", FIRST, FIRST + 0x40},
        {"two memories", FIRST, SECOND},
        {"data bus", FIRST, ON_DATA_BUS},
    };

    mmio_write(DEMCR, 0, mmio_read(DEMCR, 0) | DEMCR_TRCENA);
    mmio_write(DWT_CTRL, 0, mmio_read(DWT_CTRL, 0) | 1);
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        console_print("%s: %u %u\n", pairs[i].name, last(loads, pairs[i].first, pairs[i].second),
                      last(stores, pairs[i].first, pairs[i].second));
    }
    console_flush();
    return 0;
}
