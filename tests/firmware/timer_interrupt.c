/* The machine timer interrupts at its time and not before, with the core asleep in wfi and with it busy. */
#include "clock.h"
#include "console.h"
#include "riscv.h"
#include "trap.h"

static volatile uint32_t interrupts;
static volatile uint64_t taken_at;

static void on_timer(void)
{
    interrupts = interrupts + 1;
    taken_at = clock_ticks();
    clock_clear_alarm();
}

/* Gives the ticks from the alarm's time to its interrupt, or -1. */
static int64_t wait_for_alarm(uint32_t microseconds, int asleep)
{
    uint32_t before = interrupts;
    uint64_t alarm = clock_ticks() + clock_ticks_of_us(microseconds);

    clock_set_alarm(alarm);
    while (interrupts == before) {
        if (clock_ticks() > alarm + clock_ticks_of_us(1000)) {
            return -1;
        }
        if (asleep) {
            riscv_wait_for_interrupt();
        }
    }
    return (int64_t)(taken_at - alarm);
}

int main(void)
{
    trap_on_interrupt(RISCV_INTERRUPT_TIMER, on_timer);
    clock_clear_alarm();
    riscv_csr_set(mie, RISCV_MIE_MTIE);
    trap_enable_interrupts();

    int64_t asleep = wait_for_alarm(500, 1);
    int64_t busy = wait_for_alarm(500, 0);
    trap_disable_interrupts();
    console_print("%u interrupts, %lld and %lld ticks late\n", interrupts, (long long)asleep, (long long)busy);
    int64_t allowed = (int64_t)clock_ticks_of_us(20);
    return interrupts == 2 && asleep >= 0 && asleep < allowed && busy >= 0 && busy < allowed ? 0 : 1;
}
