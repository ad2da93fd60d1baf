/* Waits for an interrupt that is far away. */
#include "arm.h"
#include "board.h"
#include "mmio.h"

#define PIT_MR 0x00u
#define MR_PITIEN_PITEN (3u << 24)
#define MR_PIV 0xFFFFFu

int main(void)
{
    mmio_write(BOARD_PIT_BASE, PIT_MR, MR_PITIEN_PITEN | MR_PIV);
    arm_wait_for_interrupt();
    return 0;
}
