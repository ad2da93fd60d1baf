/* What boards with an STM32 of their own have: the console at the ST-LINK, and clocks that a program can raise. */
#ifndef STM32_BOARD_H
#define STM32_BOARD_H

#include <stdint.h>

/* 8N1 at BOARD_UART_BAUD; `clock_hz` is the rate that the UART is clocked with now. Clock and pins are turned on. */
void stm32_console_start(uint32_t clock_hz);

/* What the clocks run at. */
struct stm32_clocks {
    uint32_t core_hz;
    uint32_t uart_hz;
};

/* Raises the clocks to the most that the board allows, as vendors' code does it: voltage, oscillator, PLL, flash wait
 * states, dividers, then the switch. Gives 0 Hz where an oscillator or PLL never got ready. */
struct stm32_clocks stm32_clocks_fast(void);

#endif
