/* A word load from an odd address traps on a core without misaligned access. */
#include <stdint.h>

static uint32_t words[2];

int main(void)
{
    uint32_t value;
    __asm__ volatile("lw %0, 1(%1)" : "=r"(value) : "r"(words));
    return (int)value;
}
