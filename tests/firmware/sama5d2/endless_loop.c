/* Never ends. */
#include "console.h"

int main(void)
{
    console_print("looping\n");
    for (;;) {
        __asm__ volatile(""); /* here */
    }
}
