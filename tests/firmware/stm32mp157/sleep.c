/* Sleeps until given times, with an interrupt to be served meanwhile, and prints how late it woke up, in ticks of the
 * generic timer. */
#include "arm_generic_timer.h"
#include "board.h"
#include "clock.h"
#include "console.h"
#include "gic.h"
#include "mmio.h"

#define INTERRUPT GIC_SPI(5)
#define GICD_ISPENDR 0x200u
#define GICD_ICPENDR 0x280u

static volatile uint32_t served;

static void serve(void)
{
    served++;
    mmio_write(BOARD_GICD_BASE, GICD_ICPENDR + INTERRUPT / 32 * 4, 1u << INTERRUPT % 32);
}

int main(void)
{
    gic_enable(INTERRUPT, serve);
    console_flush();
    for (uint32_t us = 1; us <= 10000; us *= 10) {
        uint64_t end = clock_ticks() + clock_ticks_of_us(us);

        mmio_write(BOARD_GICD_BASE, GICD_ISPENDR + INTERRUPT / 32 * 4, 1u << INTERRUPT % 32);
        clock_sleep_until(end);
        uint64_t late = clock_ticks() - end;
        console_print("%u us: %u ticks late, %u served\n", us, (uint32_t)late, served);
        console_flush();
    }
    return 0;
}
