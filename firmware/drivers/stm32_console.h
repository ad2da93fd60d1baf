/* The A7's console: UART4, which the ST-LINK of an STM32MP157C-DK2 shows. */
#ifndef STM32_CONSOLE_H
#define STM32_CONSOLE_H

/* 8N1 at BOARD_UART_BAUD from hsi_ck. The pins are as the boot loader left them, whose console it was. */
void stm32_console_start(void);

#endif
