/* The console: the board's UART. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdint.h>

/* Prints a format with %s %c %d %u %x %% , widths with 0 (`%08x`), and ll for 64 bits (`%llu`). */
void console_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Waits until the last character has left the UART. */
void console_flush(void);

/* Drops everything from now on. */
void console_disable(void);

/* By the board's UART driver: takes one character, or drops it if the UART is stuck; and waits for the last. */
void console_uart_put(char character);
void console_uart_flush(void);

#endif
