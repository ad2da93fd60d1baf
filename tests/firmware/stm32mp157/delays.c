/* Delays by the generic timer's counter, as Linux's udelay makes them: by a function that reads the counter, through a
 * pointer, with barriers in between; and by a loop of four instructions. */
#include <stdint.h>

#include "arm.h"
#include "result.h"

#define PMCR_E (1u << 0)
#define PMCNTENSET_C (1u << 31)

static __attribute__((noinline)) uint32_t read_count(void)
{
    uint32_t low, high;

    __asm__ volatile("isb\n\tmrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high) : : "memory");
    return low;
}

static uint32_t (*volatile read_timer)(void) = read_count;

static __attribute__((noinline)) void delay_by_calls(uint32_t ticks)
{
    uint32_t begin = read_timer();

    while (read_timer() - begin < ticks) {
        __asm__ volatile("dmb\n\tnop\n\tnop\n\tnop" : : : "memory");
    }
}

static __attribute__((noinline)) void delay_by_loop(uint32_t ticks)
{
    uint32_t begin = read_count(), low, high;

    __asm__ volatile("1:  mrrc p15, 1, %[low], %[high], c14\n"
                     "    sub %[low], %[low], %[begin]\n"
                     "    cmp %[low], %[ticks]\n"
                     "    bcc 1b\n"
                     : [low] "=&r"(low), [high] "=&r"(high)
                     : [begin] "r"(begin), [ticks] "r"(ticks)
                     : "cc", "memory");
}

int main(void)
{
    static const uint32_t delays[] = {24, 240, 2400, 24000, 480000};

    arm_cp15_write(0, c9, c12, 0, PMCR_E);
    arm_cp15_write(0, c9, c12, 1, PMCNTENSET_C);
    for (unsigned i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        uint32_t begin = arm_cp15_read(0, c9, c13, 0);

        delay_by_calls(delays[i]);
        result_number_at("by_calls", "ticks", (int32_t)delays[i], "cycles", arm_cp15_read(0, c9, c13, 0) - begin);
        begin = arm_cp15_read(0, c9, c13, 0);
        delay_by_loop(delays[i]);
        result_number_at("by_loop", "ticks", (int32_t)delays[i], "cycles", arm_cp15_read(0, c9, c13, 0) - begin);
    }
    return 0;
}
