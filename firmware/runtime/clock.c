#include "clock.h"

#include "board.h"
#include "mmio.h"
#include "riscv.h"
#include "ticks.h"
#include "trap.h"

/* Layout of the SiFive CLINT: FU540-C000 manual, chapter 9. */
#define CLINT_MTIMECMP 0x4000u
#define CLINT_MTIMECMPH 0x4004u
#define CLINT_MTIME 0xBFF8u
#define CLINT_MTIMEH 0xBFFCu

uint64_t clock_ticks(void)
{
    uint32_t high, low;
    do {
        high = mmio_read(BOARD_CLINT_BASE, CLINT_MTIMEH);
        low = mmio_read(BOARD_CLINT_BASE, CLINT_MTIME);
    } while (high != mmio_read(BOARD_CLINT_BASE, CLINT_MTIMEH));
    return ((uint64_t)high << 32) | low;
}

uint64_t clock_ticks_of_us(uint64_t microseconds)
{
    return TICKS_OF_US(microseconds, BOARD_MTIME_HZ);
}

void clock_set_alarm(uint64_t ticks)
{
    /* High half first to its maximum: no value in between lies before the wanted one (Privileged
       Architecture, 3.2.1). */
    mmio_write(BOARD_CLINT_BASE, CLINT_MTIMECMPH, UINT32_MAX);
    mmio_write(BOARD_CLINT_BASE, CLINT_MTIMECMP, (uint32_t)ticks);
    mmio_write(BOARD_CLINT_BASE, CLINT_MTIMECMPH, (uint32_t)(ticks >> 32));
}

void clock_clear_alarm(void)
{
    clock_set_alarm(UINT64_MAX);
}

void clock_sleep_us(uint32_t microseconds)
{
    uint64_t end = clock_ticks() + clock_ticks_of_us(microseconds);
    uint32_t interrupts = trap_disable_interrupts();
    uint32_t enabled = riscv_csr_read(mie);

    clock_set_alarm(end);
    /* Only the timer wakes: wfi looks at mie, not at mstatus.MIE, so no trap is taken. */
    riscv_csr_write(mie, RISCV_MIE_MTIE);
    do {
        riscv_wait_for_interrupt();
    } while (clock_ticks() < end);
    riscv_csr_write(mie, enabled);
    clock_clear_alarm();
    trap_restore_interrupts(interrupts);
}
