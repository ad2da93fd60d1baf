/* Goes back to code in the flash that a wrong frame reads. */
#include "console.h"
#include "frame.h"

BOARD_BOOT_CODE __attribute__((noinline)) static void spoil_frame(void)
{
    frame_set(QUAD_IO_FAST_READ, IFR_QUAD_IO | IFR_DUMMIES(8));
}

int main(void)
{
    console_print("before\n");
    spoil_frame();
    console_print("behind\n");
    return 0;
}
