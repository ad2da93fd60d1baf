#include "parts.h"

#include <stdbool.h>

#define SCANNER_TEXT_BYTES 600u

enum state { START, SIGN, INTEGER, POINT, FRACTION, EXPONENT, EXPONENT_SIGN, POWER, INVALID, STATES };

static char text[SCANNER_TEXT_BYTES];

/* Numbers, broken ones among them, with commas in between. */
void scanner_set_up(uint32_t seed)
{
    static const char *const words[] = {"5012", "-874", "+122", "35.54400", ".1234500", "-110.700", "+0.64400",
                                        "5.500e+3", "-.123e-2", "87e+832", "+0.6e-12", "T0.3e-1F", "-T.T++Tq",
                                        "1T3.4e4z", "34.0e-T^"};
    uint32_t used = 0;

    for (;;) {
        const char *word = words[random_next(&seed) % (sizeof words / sizeof words[0])];
        uint32_t length = 0;
        while (word[length]) {
            length++;
        }
        if (used + length + 1 >= SCANNER_TEXT_BYTES) {
            break;
        }
        for (uint32_t i = 0; i < length; i++) {
            text[used++] = word[i];
        }
        text[used++] = ',';
    }
    text[used] = '\0';
}

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static bool is_sign(char character)
{
    return character == '+' || character == '-';
}

static enum state next(enum state state, char character)
{
    switch (state) {
    case START:
        if (is_sign(character)) {
            return SIGN;
        }
        /* fall through */
    case SIGN:
        return is_digit(character) ? INTEGER : character == '.' ? POINT : INVALID;
    case INTEGER:
        return is_digit(character) ? INTEGER : character == '.' ? POINT : character == 'e' ? EXPONENT : INVALID;
    case POINT:
    case FRACTION:
        return is_digit(character) ? FRACTION : character == 'e' ? EXPONENT : INVALID;
    case EXPONENT:
        return is_sign(character) ? EXPONENT_SIGN : is_digit(character) ? POWER : INVALID;
    case EXPONENT_SIGN:
    case POWER:
        return is_digit(character) ? POWER : INVALID;
    default:
        return INVALID;
    }
}

/* Reads the text; counts in which state each number ends, and every change of state. */
static void scan(uint32_t ends[STATES], uint32_t *changes)
{
    enum state state = START;

    for (const char *at = text; *at; at++) {
        if (*at == ',') {
            ends[state]++;
            state = START;
            continue;
        }
        enum state following = next(state, *at);
        *changes += following != state;
        state = following;
    }
}

/* Damages every `step`th character, or repairs it: twice the same is as before. */
static void damage(uint32_t step, char mask)
{
    for (uint32_t i = 0; i < SCANNER_TEXT_BYTES && text[i]; i += step) {
        if (text[i] != ',' && (text[i] ^ mask) != ',' && text[i] != mask) {
            text[i] ^= mask;
        }
    }
}

uint16_t scanner_round(uint32_t round, uint16_t crc)
{
    uint32_t ends[STATES] = {0}, changes = 0;
    uint32_t step = 7 + round % 13;

    scan(ends, &changes);
    damage(step, 0x01);
    scan(ends, &changes);
    damage(step, 0x01);
    scan(ends, &changes);
    for (int i = 0; i < STATES; i++) {
        crc = crc16_word(crc, ends[i]);
    }
    return crc16_word(crc, changes);
}
