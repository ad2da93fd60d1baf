/* The interval timer counts milliseconds by its interrupt, with the core asleep and with it busy. */
#include "altera_timer.h"
#include "board.h"
#include "console.h"
#include "riscv.h"

int main(void)
{
    tick_start();
    /* The first one fills the caches. */
    tick_sleep_ms(2);
    uint64_t cycles = riscv_cycles();
    tick_sleep_ms(5);
    uint32_t asleep = (uint32_t)(riscv_cycles() - cycles);

    uint32_t start = tick_ms();
    cycles = riscv_cycles();
    while (tick_ms() - start < 5) {
    }
    uint32_t busy = (uint32_t)(riscv_cycles() - cycles);
    tick_stop();

    uint32_t counted = tick_ms();
    for (uint32_t end = (uint32_t)riscv_cycles() + BOARD_CLOCK_HZ / 200;
        (int32_t)(end - (uint32_t)riscv_cycles()) > 0;) {
    }
    console_print("%u ticks, %u and %u clocks\n", tick_ms(), asleep, busy);

    /* To the interrupt's few dozen clocks. */
    uint32_t expected = 5 * (BOARD_CLOCK_HZ / TICK_HZ);
    return tick_ms() == counted && counted == 12 && asleep - expected + 100 < 200 && busy - expected + 200 < 400 ? 0
                                                                                                                 : 1;
}
