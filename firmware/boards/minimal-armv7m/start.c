/* The set-up of a program before main, and a wait for drivers. */
#include "armv7m.h"
#include "board.h"
#include "clock.h"
#include "nvic.h"
#include "ticks.h"

void board_start(void);

void board_start(void)
{
    nvic_start();
    armv7m_start_cycle_counter();
}

/* By the cycle counter: up to 42 s. */
void clock_sleep_us(uint32_t microseconds)
{
    uint32_t start = armv7m_cycles();
    uint32_t cycles = (uint32_t)TICKS_OF_US(microseconds, BOARD_CORE_HZ);

    while (armv7m_cycles() - start < cycles) {
    }
}
