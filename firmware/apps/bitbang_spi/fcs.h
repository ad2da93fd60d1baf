/* The check sequence of IEEE 802.15.4. */
#ifndef FCS_H
#define FCS_H

#include <stdint.h>

/* IEEE 802.15.4-2006, 7.2.1.9: x^16 + x^12 + x^5 + 1 from 0, low bits first. Over a frame with its check sequence it
   is 0. */
static inline uint16_t check_sequence(const uint8_t *frame, uint32_t bytes)
{
    uint32_t remainder = 0;

    for (uint32_t i = 0; i < bytes; i++) {
        remainder ^= frame[i];
        for (int bit = 0; bit < 8; bit++) {
            remainder = remainder & 1 ? remainder >> 1 ^ 0x8408u : remainder >> 1;
        }
    }
    return (uint16_t)remainder;
}

#endif
