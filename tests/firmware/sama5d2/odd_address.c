/* A word at an odd address: fine in normal memory, which there is with the MMU on only. */
#include "console.h"

#include <stdint.h>

static uint8_t bytes[8] __attribute__((aligned(4))) = {0, 0x44, 0x33, 0x22, 0x11};

int main(void)
{
    uint32_t value;
    __asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"(bytes + 1) : "memory"); /* here */
    console_print("read %08x\n", value);
    return 0;
}
