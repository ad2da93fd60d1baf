/* The DAC of an STM32F407 and, with STM32L4, of an STM32L4R5, by clocks out of reset: a sine of 32 codes by DMA, one at
 * each update of TIM6, 160 clocks apart. */
#include "armv7m.h"
#include "console.h"
#include "mmio.h"

#define DAC 0x40007400u
#define TIM6 0x40001000u
#define DHR12R1 0x08u
#define DOR1 0x2Cu
#define SR 0x34u
#ifdef STM32L4
#define RCC 0x40021000u
#define DMA1 0x40020000u
#define DMAMUX1 0x40020800u
#else
#define RCC 0x40023800u
#define DMA1 0x40026000u
/* Stream 5, channel 7. */
#define STREAM (DMA1 + 0x10u + 0x18u * 5u)
#endif

static const uint16_t sine[32] = {
    2048, 2447, 2831, 3185, 3495, 3750, 3939, 4056, 4095, 4056, 3939, 3750, 3495, 3185, 2831, 2447,
    2048, 1648, 1264, 910,  600,  345,  156,  39,   0,    39,   156,  345,  600,  910,  1264, 1648,
};

static void start(void)
{
#ifdef STM32L4
    mmio_write(RCC, 0x48, mmio_read(RCC, 0x48) | 1u << 0 | 1u << 2);
    mmio_write(RCC, 0x58, mmio_read(RCC, 0x58) | 1u << 29 | 1u << 4);
    mmio_write(DMAMUX1, 0, 6);
    mmio_write(DMA1, 0x0C, 32);
    mmio_write(DMA1, 0x10, DAC + DHR12R1);
    mmio_write(DMA1, 0x14, (uint32_t)(uintptr_t)sine);
    /* Halfwords, MINC, circular, memory to peripheral. */
    mmio_write(DMA1, 0x08, 1u << 10 | 1u << 8 | 1u << 7 | 1u << 5 | 1u << 4 | 1u);
    /* DMAEN, TIM6, TEN, EN. */
    mmio_write(DAC, 0x00, 1u << 12 | 5u << 2 | 1u << 1 | 1u);
#else
    mmio_write(RCC, 0x30, mmio_read(RCC, 0x30) | 1u << 21);
    mmio_write(RCC, 0x40, mmio_read(RCC, 0x40) | 1u << 29 | 1u << 4);
    mmio_write(STREAM, 0x04, 32);
    mmio_write(STREAM, 0x08, DAC + DHR12R1);
    mmio_write(STREAM, 0x0C, (uint32_t)(uintptr_t)sine);
    /* Channel 7, halfwords, MINC, circular, memory to peripheral. */
    mmio_write(STREAM, 0x00, 7u << 25 | 1u << 13 | 1u << 11 | 1u << 10 | 1u << 8 | 1u << 6 | 1u);
    /* DMAEN, TIM6, TEN, EN. */
    mmio_write(DAC, 0x00, 1u << 12 | 1u << 2 | 1u);
#endif
}

int main(void)
{
    armv7m_start_cycle_counter();
    start();
    mmio_write(TIM6, 0x2C, 159);
    mmio_write(TIM6, 0x04, 2u << 4);
    mmio_write(TIM6, 0x00, 1);
    uint32_t begun = armv7m_cycles();
    while (armv7m_cycles() - begun < 16000u) {
    }
    console_print("status %x\n", mmio_read(DAC, SR));
    return 0;
}
