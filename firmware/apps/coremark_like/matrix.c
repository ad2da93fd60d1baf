#include "parts.h"

#define MATRIX_ROWS 14u

typedef int16_t matrix[MATRIX_ROWS][MATRIX_ROWS];

static matrix left, right;
static int32_t product[MATRIX_ROWS][MATRIX_ROWS];

void matrix_set_up(uint32_t seed)
{
    for (uint32_t row = 0; row < MATRIX_ROWS; row++) {
        for (uint32_t column = 0; column < MATRIX_ROWS; column++) {
            left[row][column] = (int16_t)(random_next(&seed) & 0x7FF);
            right[row][column] = (int16_t)((random_next(&seed) & 0x7FF) - 1024);
        }
    }
}

static void multiply(void)
{
    for (uint32_t row = 0; row < MATRIX_ROWS; row++) {
        for (uint32_t column = 0; column < MATRIX_ROWS; column++) {
            int32_t sum = 0;
            for (uint32_t i = 0; i < MATRIX_ROWS; i++) {
                sum += left[row][i] * right[i][column];
            }
            product[row][column] = sum;
        }
    }
}

/* The same with single fields of the factors: shifts and masks beside the multiplications. */
static uint32_t multiply_fields(void)
{
    uint32_t total = 0;

    for (uint32_t row = 0; row < MATRIX_ROWS; row++) {
        for (uint32_t column = 0; column < MATRIX_ROWS; column++) {
            for (uint32_t i = 0; i < MATRIX_ROWS; i++) {
                uint32_t a = (uint16_t)left[row][i], b = (uint16_t)right[i][column];
                total += (a >> 2 & 0x0F) * (b >> 5 & 0x7F);
            }
        }
    }
    return total;
}

static void add_to_left(int16_t value)
{
    for (uint32_t row = 0; row < MATRIX_ROWS; row++) {
        for (uint32_t column = 0; column < MATRIX_ROWS; column++) {
            left[row][column] = (int16_t)(left[row][column] + value);
        }
    }
}

uint16_t matrix_round(uint32_t round, uint16_t crc)
{
    int16_t value = (int16_t)(round & 7);

    add_to_left(value);
    multiply();
    for (uint32_t row = 0; row < MATRIX_ROWS; row++) {
        for (uint32_t column = 0; column < MATRIX_ROWS; column++) {
            crc = crc16_byte(crc, (uint8_t)(product[row][column] >> 4));
        }
    }
    crc = crc16_word(crc, multiply_fields());
    add_to_left((int16_t)-value);
    return crc;
}
