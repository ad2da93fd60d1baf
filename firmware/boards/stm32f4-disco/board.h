/* STM32F4DISCOVERY: addresses (RM0090, Memory map), and the clocks that it can have: 168 MHz from a crystal of 8 MHz,
 * with five wait states (RM0090, number of wait states), PCLK1 a quarter and PCLK2 half of it. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "stm32f4-disco"

#define BOARD_USART2_BASE 0x40004400u
#define BOARD_PWR_BASE 0x40007000u
#define BOARD_GPIOA_BASE 0x40020000u
#define BOARD_RCC_BASE 0x40023800u
#define BOARD_FLASH_BASE 0x40023C00u

#define BOARD_UART_BAUD 115200u

#define BOARD_HSE_IS_EXTERNAL 0
#define BOARD_PLL_M 8u
#define BOARD_PLL_N 336u
#define BOARD_PLL_P 2u
#define BOARD_PLL_Q 7u
/* Scale 1. */
#define BOARD_VOS_BITS (1u << 14)
#define BOARD_FAST_HZ 168000000u
#define BOARD_FAST_WAIT_STATES 5u
#define BOARD_FAST_PPRE (5u << 10 | 4u << 13)
#define BOARD_FAST_UART_HZ (BOARD_FAST_HZ / 4)

/* Core clocks in MHz with their wait states (RM0090, number of wait states, 2.7 to 3.6 V). */
#define BOARD_RATES {16, 0}, {24, 0}, {30, 0}, {60, 1}, {84, 2}, {100, 3}, {120, 3}, {144, 4}, {168, 5}

#endif
