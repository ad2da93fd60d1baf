/* A store to where nothing is, on the bus and in the translation table. */
#include <stdint.h>

int main(void)
{
    *(volatile uint32_t *)0x60000000u = 1; /* here */
    return 0;
}
