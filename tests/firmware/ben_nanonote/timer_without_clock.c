/* Starts a channel of the TCU without selecting a clock for it. */
#include "board.h"
#include "console.h"
#include "mmio.h"

#define CHANNEL 5u
#define TCU_TESR 0x14u
#define TCU_TCNT5 (0x48u + CHANNEL * 0x10u)

int main(void)
{
    mmio_write(BOARD_TCU_BASE, TCU_TESR, 1u << CHANNEL);
    console_print("counted %u\n", mmio_read(BOARD_TCU_BASE, TCU_TCNT5));
    return 0;
}
