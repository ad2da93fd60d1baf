/* The ADC of an STM32L4R5 by HCLK of 4 MHz: its start, calibration, and a sequence of the internal reference and the
 * temperature sensor by DMA. */
#include "armv7m.h"
#include "console.h"
#include "mmio.h"

#define RCC 0x40021000u
#define ADC 0x50040000u
#define ISR 0x00u
#define CR 0x08u
#define CFGR 0x0Cu
#define SMPR1 0x14u
#define SMPR2 0x18u
#define SQR1 0x30u
#define CCR 0x308u
#define ADRDY 1u
#define ADEN 1u
#define ADSTART (1u << 2)
#define ADVREGEN (1u << 28)
#define ADCAL (1u << 31)
#define DMA1 0x40020000u
#define DMAMUX1 0x40020800u

static volatile uint16_t codes[2];

int main(void)
{
    mmio_write(RCC, 0x48, mmio_read(RCC, 0x48) | 1u << 0 | 1u << 2);
    mmio_write(RCC, 0x4C, mmio_read(RCC, 0x4C) | 1u << 13);
    armv7m_start_cycle_counter();
    /* HCLK / 1; VREFEN, CH17SEL. */
    mmio_write(ADC, CCR, 1u << 16 | 1u << 22 | 1u << 23);
    mmio_write(ADC, CR, 0);
    mmio_write(ADC, CR, ADVREGEN);
    uint32_t begun = armv7m_cycles();
    while (armv7m_cycles() - begun < 20u * 4u) {
    }
    mmio_write(ADC, CR, ADVREGEN | ADCAL);
    begun = armv7m_cycles();
    while ((mmio_read(ADC, CR) & ADCAL) != 0) {
    }
    uint32_t calibration = armv7m_cycles() - begun;
    mmio_write(ADC, CR, ADVREGEN | ADEN);
    while ((mmio_read(ADC, ISR) & ADRDY) == 0) {
    }
    mmio_write(ADC, SMPR1, 6u);
    mmio_write(ADC, SMPR2, 7u << 21);
    mmio_write(ADC, SQR1, 1u | 0u << 6 | 17u << 12);
    mmio_write(ADC, CFGR, 1u);
    mmio_write(DMAMUX1, 0, 5);
    mmio_write(DMA1, 0x0C, 2);
    mmio_write(DMA1, 0x10, ADC + 0x40u);
    mmio_write(DMA1, 0x14, (uint32_t)(uintptr_t)codes);
    mmio_write(DMA1, 0x08, 1u | 1u << 7 | 1u << 8 | 1u << 10);
    mmio_write(ADC, CR, ADVREGEN | ADEN | ADSTART);
    begun = armv7m_cycles();
    while ((mmio_read(DMA1, 0x00) & 1u << 1) == 0) {
    }
    uint32_t cycles = armv7m_cycles() - begun;
    console_print("calibration: %u cycles\n", calibration);
    console_print("codes: %u %u, %u cycles\n", codes[0], codes[1], cycles);
    return 0;
}
