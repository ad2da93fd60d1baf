/* Definitions for both cores. */
#ifndef PAIR_H
#define PAIR_H

#include "parts.h"

/* The channel by which the M4 signals its end; its checksum is the first word of the shared SRAM. */
#define DONE_CHANNEL 1u

static inline void pair_set_up(void)
{
    list_set_up(0x13579BDFu);
    matrix_set_up(0x2468ACE1u);
    scanner_set_up(0x0F1E2D3Cu);
}

static inline uint16_t pair_round(uint32_t round, uint16_t crc)
{
    crc = list_round(round, crc);
    crc = matrix_round(round, crc);
    return scanner_round(round, crc);
}

#endif
