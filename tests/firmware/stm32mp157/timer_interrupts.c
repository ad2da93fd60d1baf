/* Takes interrupts of the virtual timer through the GIC while it sleeps; then a loop that the caches hold, by the cycle
 * counter. */
#include <stdint.h>

#include "arm.h"
#include "arm_generic_timer.h"
#include "clock.h"
#include "gic.h"
#include "result.h"

#define PERIOD 2400u /* 100 us */
#define INTERRUPTS 10u
#define ROUNDS 1000u
#define PMCR_E (1u << 0)
#define PMCNTENSET_C (1u << 31)

static volatile uint32_t taken;
static uint64_t first, last;

static uint64_t read_cntv_cval(void)
{
    uint64_t value;

    __asm__ volatile("mrrc p15, 3, %Q0, %R0, c14" : "=r"(value));
    return value;
}

static void tick(void)
{
    last = clock_ticks();
    first = taken == 0 ? last : first;
    taken = taken + 1;
    clock_set_alarm(read_cntv_cval() + PERIOD);
}

/* Not inlined, so that it is in the cache the next time. Pairs: add and add, add and subs; and the branch. */
static __attribute__((noinline)) uint32_t loop_cycles(uint32_t rounds)
{
    uint32_t begin, end;

    __asm__ volatile("    mrc p15, 0, %[begin], c9, c13, 0\n"
                     "    .balign 32\n"
                     "1:  add r1, r1, #1\n"
                     "    add r2, r2, #1\n"
                     "    add r3, r3, r1\n"
                     "    subs %[rounds], %[rounds], #1\n"
                     "    bne 1b\n"
                     "    mrc p15, 0, %[end], c9, c13, 0\n"
                     : [rounds] "+r"(rounds), [begin] "=&r"(begin), [end] "=&r"(end)
                     :
                     : "r1", "r2", "r3", "cc");
    return end - begin;
}

int main(void)
{
    uint32_t short_loop, long_loop;

    gic_enable(GIC_PPI(GENERIC_TIMER_PPI), tick);
    clock_set_alarm(clock_ticks() + PERIOD);
    while (taken < INTERRUPTS) {
        arm_disable_interrupts();
        if (taken < INTERRUPTS) {
            arm_wait_for_interrupt();
        }
        arm_enable_interrupts();
        arm_isb();
    }
    clock_clear_alarm();
    arm_disable_interrupts();
    result_number("interrupts", "", taken);
    result_number("ticks_between", "", last - first);

    arm_cp15_write(0, c9, c12, 0, PMCR_E);
    arm_cp15_write(0, c9, c12, 1, PMCNTENSET_C);
    /* Until predictions of the loop's start and end do not change any more. */
    for (unsigned i = 0; i < 4; i++) {
        (void)loop_cycles(ROUNDS);
    }
    short_loop = loop_cycles(ROUNDS);
    long_loop = loop_cycles(2 * ROUNDS);
    result_number("loop", "cycles", long_loop - short_loop);
    return 0;
}
