/* NUCLEO-F411RE: addresses (RM0383, Memory map), and the clocks that it can have: 100 MHz from the 8 MHz of the
 * ST-LINK, with three wait states (RM0383, number of wait states), PCLK1 half of it. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "nucleo-f411re"

#define BOARD_USART2_BASE 0x40004400u
#define BOARD_PWR_BASE 0x40007000u
#define BOARD_GPIOA_BASE 0x40020000u
#define BOARD_RCC_BASE 0x40023800u
#define BOARD_FLASH_BASE 0x40023C00u

#define BOARD_UART_BAUD 115200u

#define BOARD_HSE_IS_EXTERNAL 1
#define BOARD_PLL_M 8u
#define BOARD_PLL_N 400u
#define BOARD_PLL_P 4u
#define BOARD_PLL_Q 9u
/* Scale 1. */
#define BOARD_VOS_BITS (3u << 14)
#define BOARD_FAST_HZ 100000000u
#define BOARD_FAST_WAIT_STATES 3u
#define BOARD_FAST_PPRE (4u << 10)
#define BOARD_FAST_UART_HZ (BOARD_FAST_HZ / 2)

/* Core clocks in MHz with their wait states (RM0383, number of wait states, 2.7 to 3.6 V). */
#define BOARD_RATES {16, 0}, {24, 0}, {30, 0}, {60, 1}, {84, 2}, {100, 3}

#endif
