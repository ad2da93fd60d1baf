/* A call to a device's registers. */
#include "board.h"

int main(void)
{
    ((void (*)(void))BOARD_UART_BASE)(); /* here */
    return 0;
}
