/* Locks the core up: a fault, whose handler faults as well. */
#include "armv7m.h"

#include <stdint.h>

#define NOWHERE 0x30000000u

void HardFault_Handler(void);

void HardFault_Handler(void)
{
    (void)*(volatile uint32_t *)NOWHERE;
}

int main(void)
{
    __asm__ volatile("udf #1");
    return 0;
}
