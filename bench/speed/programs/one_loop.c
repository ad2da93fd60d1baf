/* A program with one loop that runs often: of all of its code that alone becomes host code. */
#include <stdint.h>

int main(void)
{
    for (uint32_t left = LOOPS; left; left--) {
        __asm__ volatile("" : "+r"(left));
    }
    return 0;
}
