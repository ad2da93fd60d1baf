/* Timer/Counter Unit of the JZ4740 (programming manual, chapter Timer/Counter Unit): the clock of clock.h, and one alarm. */
#ifndef JZ4740_TCU_H
#define JZ4740_TCU_H

#include "board.h"

#include <stdint.h>

/* What clock_ticks counts: EXTAL, 83.3 ns each. */
#define TCU_TICKS_HZ BOARD_EXTAL_HZ

/* Starts the clock from 0. */
void tcu_start(void);

/* Interrupt BOARD_IRQ_TCU2 comes when clock_ticks() reaches `ticks`, within 64 of them after; at once if it has; if that is more than 0.3 s away,
 * before. It stays until it is acknowledged, and there is one at a time. */
void tcu_set_alarm(uint64_t ticks);
void tcu_acknowledge_alarm(void);

#endif
