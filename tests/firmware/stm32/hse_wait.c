/* Turns HSE on and waits for it, as vendors' code may do for ever. */
#include "board.h"
#include "mmio.h"

#define RCC_CR_HSEON (1u << 16)
#define RCC_CR_HSERDY (1u << 17)

int main(void)
{
    mmio_write(BOARD_RCC_BASE, 0, mmio_read(BOARD_RCC_BASE, 0) | RCC_CR_HSEON);
    while (!(mmio_read(BOARD_RCC_BASE, 0) & RCC_CR_HSERDY)) {
    }
    return 0;
}
