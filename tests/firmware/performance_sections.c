/* The performance counter: clocks from one write to the next, and a report of numbers of all sizes. */
#include "altera_performance_counter.h"
#include "board.h"
#include "console.h"

#define BASE ((void *)BOARD_PERFORMANCE_COUNTER_BASE)

/* Not copied to the stack: what is timed touches no memory. */
static void __attribute__((noinline)) spin(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        __asm__ volatile("nop");
    }
}

/* Twice: the second time the instructions are in the cache. */
static void measure(void)
{
    for (int run = 0; run < 2; run++) {
        PERF_RESET(BASE);
        PERF_START_MEASURING(BASE);
        PERF_BEGIN(BASE, 1);
        spin(30000);
        PERF_BEGIN(BASE, 2);
        PERF_END(BASE, 2);
        PERF_BEGIN(BASE, 3);
        spin(10000);
        PERF_END(BASE, 3);
        PERF_BEGIN(BASE, 3);
        spin(10000);
        PERF_END(BASE, 3);
        PERF_END(BASE, 1);
        PERF_STOP_MEASURING(BASE);
    }
}

int main(void)
{
    measure();
    uint32_t total = (uint32_t)perf_get_total_time(BASE), outer = (uint32_t)perf_get_section_time(BASE, 1);
    perf_print_formatted_report(BASE, BOARD_CLOCK_HZ, 3, "total ", "empty", "spin");
    console_print("around %u, empty %u\n", total - outer, (uint32_t)perf_get_section_time(BASE, 2));
    return total == (uint32_t)perf_get_section_time(BASE, 0) ? 0 : 1;
}
