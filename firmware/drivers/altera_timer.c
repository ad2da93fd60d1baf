#include "altera_timer.h"

#include "board.h"
#include "mmio.h"
#include "riscv.h"
#include "trap.h"

/* 16-bit registers, a word apart. */
#define TIMER_STATUS 0x00u
#define TIMER_CONTROL 0x04u
#define TIMER_PERIODL 0x08u
#define TIMER_PERIODH 0x0Cu

#define TIMER_CONTROL_ITO (1u << 0)
#define TIMER_CONTROL_CONT (1u << 1)
#define TIMER_CONTROL_START (1u << 2)
#define TIMER_CONTROL_STOP (1u << 3)

/* The counter shows the period's value and every one below it, 0 too. */
#define TICK_PERIOD (BOARD_CLOCK_HZ / TICK_HZ - 1u)

static volatile uint32_t ticks;

static void on_timer(void)
{
    mmio_write(BOARD_TIMER_BASE, TIMER_STATUS, 0);
    ticks = ticks + 1;
}

void tick_start(void)
{
    ticks = 0;
    /* A write of the period stops the counter and loads it. */
    mmio_write(BOARD_TIMER_BASE, TIMER_PERIODL, TICK_PERIOD & 0xFFFFu);
    mmio_write(BOARD_TIMER_BASE, TIMER_PERIODH, TICK_PERIOD >> 16);
    mmio_write(BOARD_TIMER_BASE, TIMER_STATUS, 0);
    trap_on_interrupt(BOARD_TIMER_INTERRUPT, on_timer);
    riscv_csr_set(mie, 1u << BOARD_TIMER_INTERRUPT);
    mmio_write(BOARD_TIMER_BASE, TIMER_CONTROL, TIMER_CONTROL_ITO | TIMER_CONTROL_CONT | TIMER_CONTROL_START);
    trap_enable_interrupts();
}

void tick_stop(void)
{
    mmio_write(BOARD_TIMER_BASE, TIMER_CONTROL, TIMER_CONTROL_STOP);
    riscv_csr_clear(mie, 1u << BOARD_TIMER_INTERRUPT);
}

uint32_t tick_ms(void)
{
    return ticks;
}

void tick_sleep_ms(uint32_t milliseconds)
{
    uint32_t start = ticks;

    while (ticks - start < milliseconds) {
        riscv_wait_for_interrupt();
    }
}
