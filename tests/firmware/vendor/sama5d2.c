/*
* The start-up of a vendor on a SAMA5D2, by the register names of its data sheet (DS60001476): the watchdog off,
 * the peripherals' clocks on, a pin, the security module's back-up registers, a conversion.
 */
#include "semihosting.h"

#define WDT_MR REG(0xf8048044)
#define PMC_PCER0 REG(0xf0014010)
#define PMC_PCER1 REG(0xf0014100)
#define PMC_SR REG(0xf0014068)
#define PMC_SR_MCKRDY (1u << 3)
#define PIOB_MSKR REG(0xfc038040)
#define PIOB_CFGR REG(0xfc038044)
#define PIOB_SODR REG(0xfc038050)
#define ADC_CR REG(0xfc030000)
#define ADC_MR REG(0xfc030004)
#define ADC_CHER REG(0xfc030010)
#define ADC_LCDR REG(0xfc030020)
#define ADC_ISR REG(0xfc030030)
#define SECUMOD_CR REG(0xfc040000)

enum { ADC_TIMEOUT = 100 };

static void clocks(void) {
    PMC_PCER0 = 1u << 18 | 1u << 19;
    PMC_PCER1 = 1u << (40 - 32);
    while (!(PMC_SR & PMC_SR_MCKRDY)) {
    }
}

static void pins(void) {
    PIOB_MSKR = 1u << 5;
    PIOB_CFGR = 1u << 8;
    PIOB_SODR = 1u << 5;
}

__attribute__((noinline)) static unsigned convert(void) {
    ADC_CR = 1;
    ADC_MR = 4u << 8;
    ADC_CHER = 1u << 3;
    ADC_CR = 2;
    for (int tries = 0; tries < ADC_TIMEOUT && !(ADC_ISR & 1u << 3); tries++) {
    }
    return ADC_LCDR;
}

int main(void) {
    print(convert() == 0 ? "main: no conversion\n" : "main: a conversion\n");
    return 0;
}

void start(void) {
    WDT_MR = 1u << 15;
    clocks();
    SECUMOD_CR = 1;
    pins();
    main();
    quit();
}

__attribute__((naked, section(".first"))) void reset(void) {
    __asm__ volatile("ldr sp, =0x00220000\n b start\n .ltorg");
}
