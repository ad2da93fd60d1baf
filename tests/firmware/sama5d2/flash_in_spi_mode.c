/* Runs from the flash's window while the controller is on, but not in serial memory mode. */
#include "board.h"
#include "mmio.h"

#define QSPI_CR 0x00u
#define CR_QSPIEN (1u << 0)
#define CR_SWRST (1u << 7)

int main(void)
{
    mmio_write(BOARD_QSPI_BASE, QSPI_CR, CR_SWRST);
    mmio_write(BOARD_QSPI_BASE, QSPI_CR, CR_QSPIEN);
    ((void (*)(void))BOARD_QSPI_MEMORY_BASE)(); /* here */
    return 0;
}
