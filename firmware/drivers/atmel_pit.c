#include "atmel_pit.h"

#include "board.h"
#include "mmio.h"

#define PIT_MR 0x00u
#define PIT_PIVR 0x08u

#define MR_PITEN (1u << 24)
#define MR_PITIEN (1u << 25)

#define PIT_HZ (BOARD_PERIPHERAL_HZ / 16u)

void pit_start(uint32_t hz)
{
    /* The counter shows the interval's value and every one below it, 0 too. */
    mmio_write(BOARD_PIT_BASE, PIT_MR, MR_PITIEN | MR_PITEN | ((PIT_HZ + hz / 2u) / hz - 1u));
}

void pit_stop(void)
{
    mmio_write(BOARD_PIT_BASE, PIT_MR, 0);
    pit_acknowledge();
}

void pit_acknowledge(void)
{
    (void)mmio_read(BOARD_PIT_BASE, PIT_PIVR);
}
