/* Input on the console: what the board's UART has received. */
#ifndef CONSOLE_INPUT_H
#define CONSOLE_INPUT_H

/* By the board's UART driver: the next character (0 to 255), or -1 if none has come. */
int console_uart_get(void);

#endif
