/* UART of the SAMA5D2 (data sheet, chapter Universal Asynchronous Receiver Transmitter): the console. */
#ifndef ATMEL_UART_H
#define ATMEL_UART_H

/* 8N1 at BOARD_UART_BAUD on UART1, pins PD2 and PD3. */
void uart_start(void);

#endif
