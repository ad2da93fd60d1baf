/* An abort while the vectors are said to be where nothing is. */
#include "arm.h"

int main(void)
{
    arm_cp15_write(0, c12, c0, 0, 0x70000000);
    arm_isb();
    return *(volatile int *)0x60000000; /* here */
}
