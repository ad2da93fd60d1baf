/* Runs from the flash, which is erased. */
#include "board.h"

int main(void)
{
    ((void (*)(void))BOARD_QSPI_MEMORY_BASE)(); /* here */
    return 0;
}
