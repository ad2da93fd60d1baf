/* UART of the JZ4740 (programming manual, chapter UART Interface), a 16550 with registers four bytes apart: the
 * console. */
#ifndef JZ4740_UART_H
#define JZ4740_UART_H

/* 8N1 at BOARD_UART_BAUD on UART0. */
void uart_start(void);

#endif
