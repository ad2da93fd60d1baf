/*
* The start-up of a vendor on the Cortex-M4 of an STM32MP157, by the register names of its manual (RM0436): the
 * floating-point unit on, clocks of ports and converter on, the hardware debug port on, a pin, a conversion.
 */
#include "semihosting.h"

#define CPACR REG(0xe000ed88)
#define RCC_MC_AHB2ENSETR REG(0x50000a98)
#define RCC_MC_AHB4ENSETR REG(0x50000aa8)
#define HDP_CTRL REG(0x5002a000)
#define HDP_MUX REG(0x5002a004)
#define HDP_VAL REG(0x5002a010)
#define GPIOA_MODER REG(0x50002000)
#define GPIOA_BSRR REG(0x50002018)
#define ADC1_ISR REG(0x48003000)
#define ADC1_CR REG(0x48003008)
#define ADC1_DR REG(0x48003040)

enum { ADC_TIMEOUT = 100 };

static float scale = 2.5f;

static void clocks(void) {
    RCC_MC_AHB4ENSETR = 1u << 0;
    RCC_MC_AHB2ENSETR = 1u << 5;
    (void)RCC_MC_AHB2ENSETR;
}

static void debug_port(void) {
    HDP_CTRL = 0;
    HDP_CTRL = 1;
    HDP_MUX = 6;
    while (HDP_VAL & 1u << 0) {
    }
    HDP_CTRL = 1;
}

static void pins(void) {
    GPIOA_MODER = (GPIOA_MODER & ~(3u << 28)) | 1u << 28;
    GPIOA_BSRR = 1u << 14;
}

__attribute__((noinline)) static unsigned convert(void) {
    ADC1_CR |= 1u << 0;
    for (int tries = 0; tries < ADC_TIMEOUT && !(ADC1_ISR & 1u << 0); tries++) {
    }
    ADC1_CR |= 1u << 2;
    return ADC1_DR;
}

int main(void) {
    print((float)convert() * scale == 0.0f ? "main: no conversion\n" : "main: a conversion\n");
    return 0;
}

void reset(void) {
    CPACR |= 0xfu << 20;
    __asm__ volatile("dsb\n isb");
    clocks();
    debug_port();
    pins();
    main();
    quit();
    for (;;) {
    }
}

__attribute__((section(".first"), used)) void *const vectors[32] = {(void *)0x10040000, (void *)reset};
