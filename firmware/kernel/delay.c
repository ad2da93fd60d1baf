#include "delay.h"

#include "clock.h"
#include "jz4740_tcu.h"
#include "kernel.h"
#include "timer.h"

/* Long enough for a tick not to count. */
#define CALIBRATION_TICKS (TCU_TICKS_HZ / 1000u)
#define FIRST_LOOPS 1024u

#define NS_A_SECOND 1000000000u

/* Loops a nanosecond, times 2^32. */
static uint32_t loops_a_ns;

static void loop(uint32_t loops)
{
    __asm__ volatile(".set push\n\t"
                     ".set noreorder\n"
                     "1:\tbnez %0, 1b\n\t"
                     "addiu %0, %0, -1\n\t"
                     ".set pop"
                     : "+r"(loops));
}

/* Ticks that `loops` loops take, with the clock's reads around them. */
static uint32_t measure(uint32_t loops)
{
    uint64_t start = clock_ticks();

    loop(loops);
    return (uint32_t)(clock_ticks() - start);
}

void delay_calibrate(void)
{
    uint32_t loops = FIRST_LOOPS;
    uint32_t ticks = measure(loops);

    while (ticks < CALIBRATION_TICKS) {
        loops *= 2;
        ticks = measure(loops);
    }
    /* Too few rather than too many: a delay is never too short. */
    ticks -= measure(1) + 1;
    /* Both factors of the nanoseconds stay below 2^32, their product below 2^64. */
    uint64_t loops_a_second = (uint64_t)loops * TCU_TICKS_HZ / ticks;
    loops_a_ns = (uint32_t)((loops_a_second << 32) / NS_A_SECOND);
}

void ndelay(uint32_t nanoseconds)
{
    loop((uint32_t)((uint64_t)nanoseconds * loops_a_ns >> 32) + 1);
}

void udelay(uint32_t microseconds)
{
    for (; microseconds >= 1000; microseconds -= 1000) {
        ndelay(1000000);
    }
    ndelay(microseconds * 1000);
}

void msleep(uint32_t milliseconds)
{
    uint64_t due = clock_ticks() + clock_ticks_of_us((uint64_t)milliseconds * 1000);

    while (clock_ticks() < due) {
        thread_set_state(THREAD_SLEEPING);
        schedule_timeout(due);
    }
}
