/* How many cycles a row of loads takes while DMA2 moves words about (RM0090, 10): in the memory of the loads, in
 * another one, and not at all. */
#include "console.h"
#include "rows.h"

#define RCC_AHB1ENR 0x40023830u
#define DMA2EN (1u << 22)
#define DMA2 0x40026400u
#define LISR 0x00u
#define LIFCR 0x08u
#define S0CR 0x10u
#define S0NDTR 0x14u
#define S0PAR 0x18u
#define S0M0AR 0x1cu
#define S0FCR 0x24u
#define TCIF0 (1u << 5)
#define ALL_OF_STREAM_0 0x3du
#define DMDIS (1u << 2)
/* Memory to memory, words, both addresses go on. */
#define MOVE (2u << 6 | 1u << 9 | 1u << 10 | 2u << 11 | 2u << 13)
#define EN 1u
#define WORDS 256

ROW(loads, "ldr r3, [r0]\nldr r4, [r0, #4]\nldr r3, [r0]\nldr r4, [r0, #4]\nldr r3, [r0]\nldr r4, [r0, #4]")

static void start(uintptr_t from)
{
    mmio_write(DMA2, LIFCR, ALL_OF_STREAM_0);
    mmio_write(DMA2, S0PAR, from);
    mmio_write(DMA2, S0M0AR, from + 4 * WORDS);
    mmio_write(DMA2, S0NDTR, WORDS);
    mmio_write(DMA2, S0FCR, DMDIS);
    mmio_write(DMA2, S0CR, MOVE | EN);
}

static void finish(void)
{
    while (!(mmio_read(DMA2, LISR) & TCIF0)) {
    }
}

int main(void)
{
    static const struct {
        const char *name;
        uintptr_t from;
    } cases[] = {{"no transfer", 0}, {"another memory", OTHER}, {"the same memory", LOADED + 0x100}};

    count_cycles();
    mmio_write(RCC_AHB1ENR, 0, mmio_read(RCC_AHB1ENR, 0) | DMA2EN);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t before = last(loads, LOADED, LOADED), during;

        if (cases[i].from) {
            start(cases[i].from);
        }
        during = loads(LOADED, LOADED, DWT_CYCCNT);
        if (cases[i].from) {
            finish();
        }
        console_print("%s: %u %u\n", cases[i].name, before, during);
    }
    console_flush();
    return 0;
}
