/* Power Management Controller of the SAMA5D2 (data sheet, chapter Power Management Controller). */
#ifndef ATMEL_PMC_H
#define ATMEL_PMC_H

#include <stdint.h>

/* Core at 498 MHz, MCK at 166 MHz, the 32-bit matrix at half of it, from the 12 MHz crystal by PLLA. For the boot
 * stub. */
void pmc_set_clocks(void);

/* Lets the clock of a peripheral run. For the boot stub and later. */
void pmc_enable_peripheral(uint32_t id);

/* Lets the DDR clock run. For the boot stub. */
void pmc_enable_ddr_clock(void);

#endif
