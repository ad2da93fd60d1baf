/* The flash is in its XIP mode, in which frames begin with the address, and gets one that begins with a command. */
#include "console.h"
#include "frame.h"

static const uint32_t word = 0x600DDA7A;

BOARD_BOOT_CODE __attribute__((noinline)) static uint32_t read_with_command(const volatile uint32_t *from)
{
    frame_set(QUAD_IO_FAST_READ, IFR_QUAD_IO | IFR_DUMMIES(10));
    uint32_t first = *from;
    /* The last frame has ended the mode: its confirmation bit was not 0. */
    frame_set(QUAD_IO_FAST_READ, IFR_QUAD_IO | IFR_DUMMIES(10));
    return first;
}

int main(void)
{
    uint32_t first = read_with_command(&word);
    console_print("first: %08x, now: %08x\n", first, word);
    return 0;
}
