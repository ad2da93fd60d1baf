#include "parts.h"

#define CRC16_POLYNOMIAL 0x1021u

uint16_t crc16_byte(uint16_t crc, uint8_t value)
{
    uint32_t register_bits = crc ^ (uint32_t)value << 8;

    for (int bit = 0; bit < 8; bit++) {
        register_bits = register_bits << 1 ^ (register_bits & 0x8000u ? CRC16_POLYNOMIAL : 0);
    }
    return (uint16_t)register_bits;
}

uint16_t crc16_word(uint16_t crc, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        crc = crc16_byte(crc, (uint8_t)(value >> shift));
    }
    return crc;
}
