/* A watchdog of 10 ms that is served for 50 ms, and then forgotten. */
#include "board.h"
#include "clock.h"
#include "console.h"
#include "mmio.h"

#define WDT_TDR 0x00u
#define WDT_TCER 0x04u
#define WDT_TCNT 0x08u
#define WDT_TCSR 0x0Cu
#define TCSR_EXT_EN (1u << 2)
#define TCSR_PRESCALE_16 (2u << 3)

int main(void)
{
    uint64_t end = clock_ticks() + clock_ticks_of_us(50000);

    mmio_write(BOARD_WDT_BASE, WDT_TCSR, TCSR_EXT_EN | TCSR_PRESCALE_16);
    mmio_write(BOARD_WDT_BASE, WDT_TDR, 7500);
    mmio_write(BOARD_WDT_BASE, WDT_TCER, 1);
    while (clock_ticks() < end) {
        mmio_write(BOARD_WDT_BASE, WDT_TCNT, 0);
    }
    console_print("served\n");
    mmio_write(BOARD_WDT_BASE, WDT_TCNT, 0);
    for (;;) {
    }
}
