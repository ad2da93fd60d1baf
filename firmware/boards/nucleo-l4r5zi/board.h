/* NUCLEO-L4R5ZI: addresses (RM0432, Memory organization). */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "nucleo-l4r5zi"

#define BOARD_PWR_BASE 0x40007000u
#define BOARD_LPUART1_BASE 0x40008000u
#define BOARD_RCC_BASE 0x40021000u
#define BOARD_FLASH_BASE 0x40022000u
#define BOARD_GPIOG_BASE 0x48001800u

#define BOARD_UART_BAUD 115200u
#define BOARD_CONSOLE_BASE BOARD_LPUART1_BASE

/* Core clocks in MHz with their wait states (RM0432, number of wait states, range 1). */
#define BOARD_RATES {16, 0}, {20, 0}, {40, 1}, {60, 2}, {80, 3}, {100, 4}, {120, 5}

#endif
