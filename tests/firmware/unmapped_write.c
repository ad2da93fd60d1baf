/* A store to an address where nothing is. */
#include <stdint.h>

int main(void)
{
    *(volatile uint32_t *)0x40000000u = 1;
    return 0;
}
