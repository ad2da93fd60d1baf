/* The set-up of a program before main: the console and the clock. */
#include "jz4740_tcu.h"
#include "jz4740_uart.h"

void board_start(void);

void board_start(void)
{
    uart_start();
    tcu_start();
}
