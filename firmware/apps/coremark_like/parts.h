/* The four parts. Each is set up once, then run round after round; the results of a round go into a CRC, which
   depends on every step, so that it is wrong after any error of the processor. */
#ifndef PARTS_H
#define PARTS_H

#include <stdint.h>

/* CRC-16 (polynomial 1021h, MSB first, bit by bit) of `crc` continued by `value`. */
uint16_t crc16_byte(uint16_t crc, uint8_t value);
uint16_t crc16_word(uint16_t crc, uint32_t value);

/* A sequence of pseudo-random numbers (xorshift32); `state` is never 0. */
static inline uint32_t random_next(uint32_t *state)
{
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

/* A linked list: searched, reversed, sorted by merging. */
void list_set_up(uint32_t seed);
uint16_t list_round(uint32_t round, uint16_t crc);

/* Products of small matrices of 16-bit numbers. */
void matrix_set_up(uint32_t seed);
uint16_t matrix_round(uint32_t round, uint16_t crc);

/* A state machine that reads numbers from a text. */
void scanner_set_up(uint32_t seed);
uint16_t scanner_round(uint32_t round, uint16_t crc);

#endif
