/* All that Altera's interval timer does: snapshots, one shot and on and on, stopped, reloaded, read by bytes, polled,
 * and interrupts of some of its periods. */
#include <stdint.h>

#include "board.h"
#include "console.h"
#include "mmio.h"
#include "riscv.h"
#include "trap.h"

#define STATUS 0x00
#define CONTROL 0x04
#define PERIODL 0x08
#define PERIODH 0x0c
#define SNAPL 0x10
#define SNAPH 0x14
#define STATUS_TO 1u
#define CONTROL_ITO 1u
#define CONTROL_CONT 2u
#define CONTROL_START 4u
#define CONTROL_STOP 8u

static volatile unsigned interrupts;

static void on_timer(void)
{
    mmio_write(BOARD_TIMER_BASE, STATUS, 0);
    interrupts = interrupts + 1;
}

static uint32_t read(uint32_t offset)
{
    return mmio_read(BOARD_TIMER_BASE, offset);
}

static void write(uint32_t offset, uint32_t value)
{
    mmio_write(BOARD_TIMER_BASE, offset, value);
}

static uint32_t snapshot(void)
{
    write(SNAPL, 0);
    return read(SNAPH) << 16 | read(SNAPL);
}

int main(void)
{
    write(PERIODL, 0x86a0);
    write(PERIODH, 1);
    console_print("%x %x %x\n", snapshot(), read(STATUS), *(volatile uint8_t *)(BOARD_TIMER_BASE + PERIODL + 1));

    write(CONTROL, CONTROL_START);
    uint32_t first = snapshot(), second = snapshot();
    unsigned polls = 0;
    while (!(read(STATUS) & STATUS_TO)) {
        polls++;
    }
    console_print("%u %u, %u polls, then %x %x\n", first, first - second, polls, snapshot(), read(STATUS));

    write(STATUS, 0);
    write(PERIODH, 0);
    write(PERIODL, 9999);
    trap_on_interrupt(BOARD_TIMER_INTERRUPT, on_timer);
    riscv_csr_set(mie, 1u << BOARD_TIMER_INTERRUPT);
    trap_enable_interrupts();
    write(CONTROL, CONTROL_ITO | CONTROL_CONT | CONTROL_START);
    while (interrupts < 7) {
        riscv_wait_for_interrupt();
    }
    while (interrupts < 11) {
        snapshot();
    }
    write(CONTROL, CONTROL_CONT);
    uint32_t start = (uint32_t)riscv_cycles();
    while ((uint32_t)riscv_cycles() - start < 25000) {
    }
    write(CONTROL, CONTROL_ITO | CONTROL_CONT);
    write(CONTROL, CONTROL_STOP);
    trap_disable_interrupts();
    console_print("%u interrupts, stopped at %u, %x\n", interrupts, snapshot(), read(STATUS));
    return 0;
}
