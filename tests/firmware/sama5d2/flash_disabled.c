/* Runs from the flash's window while the controller is off. */
#include "board.h"
#include "mmio.h"

#define QSPI_CR 0x00u
#define CR_SWRST (1u << 7)

int main(void)
{
    mmio_write(BOARD_QSPI_BASE, QSPI_CR, CR_SWRST);
    ((void (*)(void))BOARD_QSPI_MEMORY_BASE)(); /* here */
    return 0;
}
