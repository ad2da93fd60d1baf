/* The set-up of the M4's program before main: that of STM32Cube's HAL_Init. */
#include "armv7m.h"
#include "board.h"
#include "nvic.h"
#include "systick.h"

void board_start(void);

void board_start(void)
{
    nvic_start();
    systick_start(BOARD_MCU_HZ);
    armv7m_start_cycle_counter();
}
