/* The channels of timer counter block 0 (SAMA5D2 data sheet, chapter Timer Counter) as stop watches of 32 bits. */
#ifndef ATMEL_TC_H
#define ATMEL_TC_H

#include "board.h"

#include <stdbool.h>
#include <stdint.h>

#define TC_CHANNELS 3u

/* Cycles of the core in `ticks` ticks. A tick is one of TIMER_CLOCK2, an eighth of the peripheral clock; without a
 * division where it is a whole number of cycles. */
#define TC_CORE_CYCLES(ticks)                                                                      \
    (8ull * BOARD_CORE_HZ % BOARD_PERIPHERAL_HZ                                                    \
         ? (uint64_t)(ticks) * 8u * BOARD_CORE_HZ / BOARD_PERIPHERAL_HZ                            \
         : (ticks) * (uint32_t)(8ull * BOARD_CORE_HZ / BOARD_PERIPHERAL_HZ))

/* Lets the block's clock run and makes a channel count ticks; tc_start comes next. */
void tc_configure(uint32_t channel);

/* Counts from 0 on. */
void tc_start(uint32_t channel);

/* Ticks since tc_start. */
uint32_t tc_ticks(uint32_t channel);

/* Whether the ticks have wrapped since tc_start or the last call: after 413 s. */
bool tc_overflowed(uint32_t channel);

#endif
