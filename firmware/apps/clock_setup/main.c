/* The clocks of an STM32: from those after reset to the fastest that the board allows. */
#include "armv7m.h"
#include "board.h"
#include "console.h"
#include "stm32_board.h"

#define ROUNDS 10000u

/* Cycles of a loop: the same at any clock, as long as memory keeps up. */
static uint32_t cycles_of_a_loop(void)
{
    uint32_t start = armv7m_cycles();

    for (uint32_t round = 0; round < ROUNDS; round++) {
        __asm__ volatile("");
    }
    return armv7m_cycles() - start;
}

int main(void)
{
    console_print("out of reset: %u Hz, %u cycles\n", BOARD_CORE_HZ, cycles_of_a_loop());
    console_flush();
    struct stm32_clocks clocks = stm32_clocks_fast();
    if (clocks.core_hz == 0) {
        console_print("an oscillator or the PLL never got ready\n");
        return 1;
    }
    stm32_console_start(clocks.uart_hz);
    console_print("now: %u Hz, %u cycles\n", clocks.core_hz, cycles_of_a_loop());
    return 0;
}
