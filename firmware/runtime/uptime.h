/* Time since the program asked for it, by whatever clock the board has. */
#ifndef UPTIME_H
#define UPTIME_H

#include <stdint.h>

/* Begins at 0, or where the board's clock is. */
void uptime_start(void);

/* Whole microseconds. */
uint64_t uptime_us(void);

#endif
