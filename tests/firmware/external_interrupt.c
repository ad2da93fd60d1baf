/* The AXI timer interrupts through the AXI interrupt controller: five periods, the core asleep in between. */
#include "board.h"
#include "clock.h"
#include "console.h"
#include "riscv.h"
#include "trap.h"
#include "xlnx_axi_intc.h"
#include "xlnx_axi_timer.h"

#define PERIOD_CLOCKS 10000u
#define PERIODS 5u

static struct xlnx_axi_timer timer;
static volatile uint32_t interrupts, strangers;

static void on_external(void)
{
    uint32_t pending = xlnx_axi_intc_pending(BOARD_INTC_BASE);

    if (pending != 1u << BOARD_INTC_TIMER_INPUT) {
        strangers = strangers + 1;
    }
    xlnx_axi_timer_acknowledge(&timer);
    xlnx_axi_intc_acknowledge(BOARD_INTC_BASE, BOARD_INTC_TIMER_INPUT);
    interrupts = interrupts + 1;
}

int main(void)
{
    uint64_t start = clock_ticks();

    trap_on_interrupt(RISCV_INTERRUPT_EXTERNAL, on_external);
    xlnx_axi_intc_init(BOARD_INTC_BASE);
    xlnx_axi_intc_enable(BOARD_INTC_BASE, BOARD_INTC_TIMER_INPUT);
    /* The timer counts from the load value through 0: the period is 2 clocks longer than the value. */
    xlnx_axi_timer_start_periodic(&timer, BOARD_TIMER_BASE, PERIOD_CLOCKS - 2);
    riscv_csr_set(mie, RISCV_MIE_MEIE);
    trap_enable_interrupts();
    while (interrupts < PERIODS) {
        riscv_wait_for_interrupt();
    }
    trap_disable_interrupts();
    xlnx_axi_timer_stop(&timer);

    uint32_t clocks = (uint32_t)((clock_ticks() - start) * (BOARD_AXI_HZ / BOARD_MTIME_HZ));
    console_print("%u interrupts in %u clocks, %u strangers\n", interrupts, clocks, strangers);
    return clocks >= PERIODS * PERIOD_CLOCKS && clocks < (PERIODS + 1) * PERIOD_CLOCKS && !strangers ? 0 : 1;
}
