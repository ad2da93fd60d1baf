/* Reads the same word with frames that the flash understands and with others, and goes back to the right one each
 * time. */
#include "console.h"
#include "frame.h"

static const uint32_t word = 0x600DDA7A;

BOARD_BOOT_CODE __attribute__((noinline)) static uint32_t read_with(
    uint32_t instruction, uint32_t frame, const volatile uint32_t *from)
{
    frame_set(instruction, frame);
    uint32_t value = *from;
    frame_set(QUAD_IO_FAST_READ, IFR_QUAD_IO | IFR_DUMMIES(10));
    return value;
}

int main(void)
{
    console_print("right: %08x\n", read_with(QUAD_IO_FAST_READ, IFR_QUAD_IO | IFR_DUMMIES(10), &word));
    console_print("right: %08x\n", read_with(QUAD_OUTPUT_FAST_READ, IFR_QUAD_OUTPUT | IFR_DUMMIES(8), &word));
    console_print("two dummy clocks early: %08x\n", read_with(QUAD_IO_FAST_READ, IFR_QUAD_IO | IFR_DUMMIES(8), &word));
    console_print("one late: %08x\n", read_with(QUAD_IO_FAST_READ, IFR_QUAD_IO | IFR_DUMMIES(11), &word));
    console_print("one line: %08x\n", read_with(QUAD_IO_FAST_READ, IFR_SINGLE_BIT_SPI | IFR_DUMMIES(10), &word));
    console_print(
        "32 bits: %08x\n", read_with(QUAD_IO_FAST_READ, IFR_QUAD_IO | IFR_ADDRESS_OF_32_BITS | IFR_DUMMIES(10), &word));
    return 0;
}
