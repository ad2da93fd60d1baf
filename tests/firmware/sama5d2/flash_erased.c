/* Runs from the flash, which nobody has programmed. */
#include "board.h"

int main(void)
{
    ((void (*)(void))BOARD_QSPI_MEMORY_BASE)(); /* here */
    return 0;
}
