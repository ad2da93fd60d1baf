/* A load from an address where nothing is: the bus answers with an error, the core traps. */
#include <stdint.h>

int main(void)
{
    return (int)*(const volatile uint32_t *)0x40000000u;
}
