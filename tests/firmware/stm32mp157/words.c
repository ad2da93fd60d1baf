/* The CRC units and the random number generators of an STM32MP157, by the Cortex-A7. */
#include "console.h"
#include "mmio.h"

#include <stdint.h>

#define RCC 0x50000000u

static void words(const char *name, uintptr_t crc, uintptr_t rng, uint32_t selector)
{
    /* CRC-32/MPEG-2 of four bytes. */
    mmio_write(crc, 0x08, 1);
    mmio_write(crc, 0x00, 0x12345678);
    console_print("CRC%s: %08x\n", name, mmio_read(crc, 0x00));
    /* By CSI, and without the detection of a clock that is too slow for the bus. */
    mmio_write(RCC, selector, 0);
    mmio_write(rng, 0x00, 1u << 5 | 1u << 2);
    uint32_t first = 0;
    for (uint32_t index = 0; index < 2; index++) {
        while ((mmio_read(rng, 0x04) & 1) == 0) {
        }
        uint32_t word = mmio_read(rng, 0x08);
        if (index == 1) {
            console_print("RNG%s: %s, SR %x\n", name, word != first ? "other words" : "the same", mmio_read(rng, 0x04));
        }
        first = word;
    }
}

/* The runtime's table does not have the megabyte of RNG1: it is mapped as the RCC's. */
static void map_rng1(void)
{
    uint32_t base;

    __asm__ volatile("mrc p15, 0, %0, c2, c0, 0" : "=r"(base));
    volatile uint32_t *table = (volatile uint32_t *)(base & ~0x3FFFu);
    table[0x540] = (table[RCC >> 20] & 0xFFFFFu) | 0x54000000u;
    __asm__ volatile("dsb\nisb" ::: "memory");
}

int main(void)
{
    map_rng1();
    /* RCC_MP_AHB5ENSETR, RCC_MP_AHB6ENSETR, RCC_MP_AHB3ENSETR. */
    mmio_write(RCC, 0x210, 1u << 6);
    mmio_write(RCC, 0x218, 1u << 20);
    mmio_write(RCC, 0xA20, 3u << 6);
    words("1", 0x58009000u, 0x54003000u, 0x0CC);
    words("2", 0x4C004000u, 0x4C003000u, 0x920);
    return 0;
}
