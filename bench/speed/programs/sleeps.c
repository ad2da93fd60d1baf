/* Sleeps once, for SECONDS. */
#include "clock.h"

int main(void)
{
    clock_sleep_us(SECONDS * 1000000u);
    return 0;
}
