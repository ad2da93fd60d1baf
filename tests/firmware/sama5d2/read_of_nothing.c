/* A load from where nothing is, on the bus and in the translation table. */
#include <stdint.h>

int main(void)
{
    return (int)*(volatile uint32_t *)0x60000000u; /* here */
}
