/* Clock Reset and Power Controller of the JZ4740 (programming manual, chapter Clock Reset and Power Controller): clocks
 * of devices. The boot loader has set the PLL. */
#ifndef JZ4740_CGU_H
#define JZ4740_CGU_H

#include <stdint.h>

/* Bits of CLKGR. */
enum cgu_gate {
    CGU_UART0 = 0,
    CGU_TCU = 1,
    CGU_RTC = 2,
    CGU_SSI = 4,
};

/* Lets a device's clock run. */
void cgu_start_clock(enum cgu_gate gate);

/* Clock of the core, of the AHB bus and of the APB bus as the registers have it, in hertz. */
uint32_t cgu_cclk_hz(void);
uint32_t cgu_hclk_hz(void);
uint32_t cgu_pclk_hz(void);

/* The SSI's clock before its own divider: the PLL's output by 1 to 16, or EXTAL for 0. Returns the clock in hertz. */
uint32_t cgu_set_ssi_divider(uint32_t divider);

#endif
