/* Reset and clock control of the STM32MP157 (RM0436, RCC): clocks of peripherals, and the start of the Cortex-M4. */
#ifndef STM32_RCC_H
#define STM32_RCC_H

#include <stdint.h>

/* An enable register of the A7s' and a bit: a peripheral's clock runs as long as one of the processors has it
 * enabled. */
#define RCC_CLOCK(set_register, bit) ((set_register) << 8 | (bit))
#define RCC_CLOCK_MDMA RCC_CLOCK(0x218u, 0u)
#define RCC_CLOCK_UART4 RCC_CLOCK(0xA00u, 16u)
#define RCC_CLOCK_UART7 RCC_CLOCK(0xA00u, 18u)
#define RCC_CLOCK_HSEM RCC_CLOCK(0xA20u, 11u)
#define RCC_CLOCK_IPCC RCC_CLOCK(0xA20u, 12u)
#define RCC_CLOCK_GPIOD RCC_CLOCK(0xA28u, 3u)
#define RCC_CLOCK_GPIOF RCC_CLOCK(0xA28u, 5u)

/* Registers that choose the kernel clock of two UARTs, and the choice. */
#define RCC_UART24CKSELR 0x8E8u
#define RCC_UART78CKSELR 0x8F0u
#define RCC_UART_FROM_HSI 2u

/* Turns a peripheral's clock on, for this core. */
void rcc_enable(uint32_t clock);

/* Selects the kernel clock of UARTs by its register, or returns the selection. */
void rcc_select(uint32_t selection_register, uint32_t choice);
uint32_t rcc_selected(uint32_t selection_register);

/* Starts the M4, once: it takes its stack and its first address from the vectors at 0, which are RETRAM's. After its
 * next reset it waits again. */
void rcc_start_mcu(void);

/* Resets the M4, which then waits for rcc_start_mcu. */
void rcc_reset_mcu(void);

#endif
