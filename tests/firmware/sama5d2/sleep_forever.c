/* Waits for an interrupt that nothing will raise. */
#include "arm.h"

int main(void)
{
    arm_wait_for_interrupt();
    return 0;
}
