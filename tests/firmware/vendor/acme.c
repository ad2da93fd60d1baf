/*
* The start-up of a vendor on a chip that has no board here, only a CMSIS-SVD file (tests/svd/acme.svd): the
 * oscillator and the PLL on, each waited for, wait states, a pin, the watchdog, a conversion.
 */
#include "semihosting.h"

#define RCC_CR REG(0x40023800)
#define RCC_CFGR REG(0x40023808)
#define RCC_AHB1ENR REG(0x40023830)
#define FLASH_ACR REG(0x40023c00)
#define GPIOA_MODER REG(0x40020000)
#define GPIOA_BSRR REG(0x40020018)
#define IWDG_KR REG(0x40003000)
#define ADC_SR REG(0x40012000)
#define ADC_CR2 REG(0x40012008)
#define ADC_DR REG(0x4001204c)
#define TRIM (*(volatile unsigned char *)0x40014001)

enum { ADC_TIMEOUT = 100 };

static void clocks(void) {
    RCC_CR |= 1u << 16;
    while (!(RCC_CR & 1u << 17)) {
    }
    RCC_CR |= 1u << 24;
    while (!(RCC_CR & 1u << 25)) {
    }
    FLASH_ACR = 5;
    RCC_CFGR = 2;
    while ((RCC_CFGR & 0xc) != 8) {
    }
    RCC_AHB1ENR |= 1u << 0;
}

__attribute__((noinline)) static unsigned convert(void) {
    ADC_CR2 = 1;
    ADC_CR2 |= 1u << 30;
    for (int tries = 0; tries < ADC_TIMEOUT && !(ADC_SR & 1u << 1); tries++) {
    }
    return ADC_DR;
}

int main(void) {
    print(convert() == 0 ? "main: no conversion\n" : "main: a conversion\n");
    return 0;
}

void reset(void) {
    clocks();
    GPIOA_MODER = (GPIOA_MODER & ~3u) | 1;
    GPIOA_BSRR = 1;
    IWDG_KR = 0xaaaa;
    TRIM = TRIM + 1;
    main();
    quit();
    for (;;) {
    }
}

__attribute__((section(".first"), used)) void *const vectors[32] = {(void *)0x20020000, (void *)reset};
