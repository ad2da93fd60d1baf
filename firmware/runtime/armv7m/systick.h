/* A tick each millisecond (DDI 0403E, B3.3), counted as STM32Cube's HAL does it. */
#ifndef SYSTICK_H
#define SYSTICK_H

#include <stdint.h>

/* Starts the tick from the core's clock. Its interrupt has the lowest priority. */
void systick_start(uint32_t core_hz);

/* Milliseconds since then. */
uint32_t systick_ms(void);

/* Waits at least this many milliseconds. */
void systick_delay_ms(uint32_t milliseconds);

#endif
