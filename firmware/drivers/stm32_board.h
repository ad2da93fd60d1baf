/* Functions of boards whose only chip is an STM32: the console at the ST-LINK, and clocks that a program can raise. */
#ifndef STM32_BOARD_H
#define STM32_BOARD_H

#include <stdint.h>

/* 8N1 at BOARD_UART_BAUD; `clock_hz` is the rate that the UART is clocked with now. Clock and pins are turned on. */
void stm32_console_start(uint32_t clock_hz);

/* The rates of the clocks. */
struct stm32_clocks {
    uint32_t core_hz;
    uint32_t uart_hz;
};

/* Raises the clocks to the most that the board allows, as vendors' code does it: voltage, oscillator, PLL, flash wait
 * states, dividers, then the switch. Returns 0 Hz if an oscillator or PLL never got ready. */
struct stm32_clocks stm32_clocks_fast(void);

#endif
