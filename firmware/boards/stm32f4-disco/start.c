/* The set-up of a program before main, at the clocks out of reset, and a wait for drivers. */
#include "armv7m.h"
#include "board.h"
#include "clock.h"
#include "nvic.h"
#include "stm32_board.h"
#include "ticks.h"

void board_start(void);

void board_start(void)
{
    nvic_start();
    armv7m_start_cycle_counter();
    stm32_console_start(BOARD_UART_HZ);
}

/* By the cycle counter, at the clock out of reset. */
void clock_sleep_us(uint32_t microseconds)
{
    uint32_t start = armv7m_cycles();
    uint32_t cycles = (uint32_t)TICKS_OF_US(microseconds, BOARD_CORE_HZ);

    while (armv7m_cycles() - start < cycles) {
    }
}
