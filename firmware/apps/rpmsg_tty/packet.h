/* What the report's client writes before each test's bytes. Each client that includes this has its own CRC. */
#ifndef PACKET_H
#define PACKET_H

#include <stdint.h>

#define PACKET_PREAMBLE 0xABCDu

#define CRC_POLYNOMIAL 0x8006u
#define CRC_BITS 16

struct packet {
    uint16_t preamble;
    uint16_t length;
    uint16_t crc16;
};

/* The report's client takes the size of a pointer, less one, for that of the header: the CRC begins within it. */
#define PACKET_CRC_OFFSET 3u

/*
 * CRC-16/ARC, bit by bit: polynomial 0x8005 with the 1 that the report's constant has for the bit that is shifted out.
 *
 * The report's client is GCC's, which at -O2 goes round once a bit and branches by the bit that is shifted out. Left to
 * itself, clang takes all eight bits of a byte in a row and makes the branch a conditional instruction, which is three
 * times as fast: crc_loop=byte.
 */
__attribute__((noinline)) static uint16_t crc16(const uint8_t *data, uint16_t bytes)
{
    uint16_t crc = 0, reversed = 0;
    int bit = 0;

#if APP_CRC_LOOP_BIT
#pragma clang loop unroll(disable)
#endif
    while (bytes) {
        int out = crc >> 15;

        crc = (uint16_t)(crc << 1 | ((*data >> bit) & 1));
        if (++bit > 7) {
            bit = 0;
            data++;
            bytes--;
        }
        if (out) {
#if APP_CRC_LOOP_BIT
            __asm__ volatile(""); /* a branch */
#endif
            crc ^= CRC_POLYNOMIAL;
        }
    }
    for (int i = 0; i < CRC_BITS; i++) {
        int out = crc >> 15;

        crc = (uint16_t)(crc << 1);
        if (out) {
            crc ^= CRC_POLYNOMIAL;
        }
    }
    for (int i = 0; i < CRC_BITS; i++) {
        reversed = (uint16_t)(reversed << 1 | ((crc >> i) & 1));
    }
    return reversed;
}

#endif
