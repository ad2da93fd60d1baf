/* Bytes a call, in the report's order. */
#ifndef SIZES_H
#define SIZES_H

#include <stdint.h>

#define SIZE_MAX_BYTES 65536u

/* The chosen ones, then 0. */
extern const uint32_t sizes[];

#endif
