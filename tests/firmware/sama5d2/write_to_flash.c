/* Writes to the flash's window while its frame is a read. */
#include "board.h"
#include "console.h"
#include "mmio.h"

int main(void)
{
    *(volatile uint32_t *)(BOARD_QSPI_MEMORY_BASE + 0x1000) = 0; /* here */
    console_print("still %08x\n", mmio_read(BOARD_QSPI_MEMORY_BASE, 0x1000));
    return 0;
}
