/* Timer/Counter Unit of the JZ4740 (programming manual, chapter Timer/Counter Unit): the clock of clock.h, and one
 * alarm. */
#ifndef JZ4740_TCU_H
#define JZ4740_TCU_H

#include "board.h"
#include "mmio.h"

#include <stdint.h>

/* The clock of clock_ticks: EXTAL, 83.3 ns each. */
#define TCU_TICKS_HZ BOARD_EXTAL_HZ

/* The counter of channel 0. */
#define TCU_TCNT0 0x48u

/* Starts the clock from 0. clock_ticks() has to be called every 5.5 s, or a wrap of its counters is missed; the kernel
 * sees to it. */
void tcu_start(void);

/* The lowest 16 bits of clock_ticks(), by one access: for stop watches of up to 5.4 ms. Differences are taken as
 * uint16_t. */
static inline uint16_t tcu_stamp(void)
{
    return (uint16_t)mmio_read(BOARD_TCU_BASE, TCU_TCNT0);
}

/* Interrupt BOARD_IRQ_TCU2 comes when clock_ticks() is about `ticks`, within 128 of them; at once if they are over;
 * early, after 0.3 s, if they are further away. It stays until it is acknowledged, and there is one at a time. */
void tcu_set_alarm(uint64_t ticks);
void tcu_acknowledge_alarm(void);

/* Interrupt BOARD_IRQ_TCU1 comes every 5.6 s from now on, as the clock's counters wrap. */
void tcu_enable_wrap_interrupt(void);
void tcu_acknowledge_wrap(void);

#endif
