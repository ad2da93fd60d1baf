/* What FreeRTOS needs of the board beyond its own port: tick, interrupts, ends. */
#ifndef FREERTOS_BOARD_SUPPORT_H
#define FREERTOS_BOARD_SUPPORT_H

/* Keeps the tick from coming until it is started again; for what must not be interrupted by it. */
void freertos_stop_tick(void);
void freertos_start_tick(void);

#endif
