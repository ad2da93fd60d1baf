/* Never ends: only a limit on simulated time stops it. */
#include "console.h"

int main(void)
{
    console_print("looping\n");
    console_flush();
    for (;;) {
        __asm__ volatile("");
    }
}
