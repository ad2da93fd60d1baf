/* Reads the status of the first DEVICES of a board's devices, again and again, without an end. */
#include "board.h"
#include "mmio.h"

int main(void)
{
    for (;;) {
        mmio_read(BOARD_UARTLITE_BASE, 0x08);
#if DEVICES > 1
        mmio_read(BOARD_TIMER_BASE, 0x00);
#endif
#if DEVICES > 2
        mmio_read(BOARD_DMA0_BASE, 0x04);
        mmio_read(BOARD_DMA1_BASE, 0x04);
#endif
#if DEVICES > 4
        mmio_read(BOARD_INTC_BASE, 0x00);
        mmio_read(BOARD_SPI_BASE, 0x64);
#endif
    }
}
