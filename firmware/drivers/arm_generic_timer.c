#include "arm_generic_timer.h"

#include "arm.h"
#include "board.h"
#include "clock.h"
#include "console.h"
#include "exit.h"
#include "gic.h"
#include "ticks.h"

#define CNTV_CTL_ENABLE (1u << 0)
#define CNTV_CTL_IMASK (1u << 1)

#define read_cntfrq() arm_cp15_read(0, c14, c0, 0)
#define write_cntv_ctl(value) arm_cp15_write(0, c14, c3, 1, value)

static void write_cntv_cval(uint64_t value)
{
    __asm__ volatile("mcrr p15, 3, %Q0, %R0, c14" : : "r"(value) : "memory");
}

/* The alarm went off: the code that set it reads the count. */
static void alarm(void)
{
    write_cntv_ctl(CNTV_CTL_ENABLE | CNTV_CTL_IMASK);
    arm_isb();
}

void generic_timer_start(void)
{
    uint32_t hz = read_cntfrq();

    if (hz != BOARD_TIMER_HZ) {
        console_print("generic timer: CNTFRQ is %u Hz, not %u\n", hz, BOARD_TIMER_HZ);
        program_exit(EXIT_FAILED);
    }
    clock_clear_alarm();
    gic_enable(GIC_PPI(GENERIC_TIMER_PPI), alarm);
}

uint64_t clock_ticks(void)
{
    uint64_t count;

    /* It is not read earlier than what is before it in the program is done (ARM ARM, B8.1.2). */
    arm_isb();
    __asm__ volatile("mrrc p15, 1, %Q0, %R0, c14" : "=r"(count) : : "memory");
    return count;
}

uint64_t clock_ticks_of_us(uint64_t microseconds)
{
    return TICKS_OF_US(microseconds, BOARD_TIMER_HZ);
}

uint64_t clock_ns_of_ticks(uint64_t ticks)
{
    return US_OF_TICKS(ticks * 1000u, BOARD_TIMER_HZ);
}

void clock_set_alarm(uint64_t ticks)
{
    write_cntv_cval(ticks);
    write_cntv_ctl(CNTV_CTL_ENABLE);
    arm_isb();
}

void clock_clear_alarm(void)
{
    write_cntv_ctl(0);
    arm_isb();
}

void clock_sleep_until(uint64_t ticks)
{
    clock_set_alarm(ticks);
    for (;;) {
        /* An interrupt between the look and the wfi would be slept over: it ends the wfi if it is kept out until
         * then. */
        arm_disable_interrupts();
        if (clock_ticks() >= ticks) {
            break;
        }
        arm_wait_for_interrupt();
        arm_enable_interrupts();
        arm_isb();
    }
    clock_clear_alarm();
    arm_enable_interrupts();
}

void clock_sleep_us(uint32_t microseconds)
{
    clock_sleep_until(clock_ticks() + clock_ticks_of_us(microseconds));
}
