/* The work that is timed: code in flash on data in flash and SRAM. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

/* Runs all parts once. Returns a checksum over their results, the same each time. */
uint32_t work(void);

#endif
