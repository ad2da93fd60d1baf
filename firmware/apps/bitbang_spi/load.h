/* How much of its time the processor is busy: a thread of the lowest priority looks at the clock all the time; what it
 * does not see is what others took. */
#ifndef LOAD_H
#define LOAD_H

#include <stdint.h>

/* Starts the thread. */
void load_start(void);

/* Ticks that others took until now. */
uint64_t load_busy_ticks(void);

#endif
