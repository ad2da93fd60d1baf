/* Channel 0 of timer counter block 0 (SAMA5D2 data sheet, chapter Timer Counter): a free-running clock of 32 bits. */
#ifndef ATMEL_TC_H
#define ATMEL_TC_H

#include "board.h"
#include "mmio.h"

#include <stdint.h>

#define TC_CV 0x10u

/* TIMER_CLOCK2 is an eighth of the peripheral clock; so a tick has this many cycles of the core. */
#define TC_HZ (BOARD_PERIPHERAL_HZ / 8u)
#define TC_CORE_CYCLES_A_TICK (BOARD_CORE_HZ / TC_HZ)

/* Counts ticks from 0. */
void tc_start(void);

/* Ticks since; wraps after 413 s. */
static inline uint32_t tc_ticks(void)
{
    return mmio_read(BOARD_TC_BASE, TC_CV);
}

#endif
