/* Sleeps by the board's clock, as long as a test wants to see. */
#include "clock.h"
#include "exit.h"
#include "section.h"

SECTION void sleep_for(void)
{
    clock_sleep_us(1000);
}

int main(void)
{
    sleep_for();
    return EXIT_OK;
}
