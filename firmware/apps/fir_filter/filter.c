#include "fir_filter.h"
#include "section.h"

#define TAPS 32u
/* The taps add up to about 1 << 15. */
#define SHIFT 15

/* A Hamming window of the ideal low pass at 0.08 of the sampling rate. */
static const int16_t taps[TAPS] = {
    54, 54, 44, 0, -97, -248, -415, -521, -459, -131, 517, 1463, 2594, 3727, 4645, 5159,
    5159, 4645, 3727, 2594, 1463, 517, -131, -459, -521, -415, -248, -97, 0, 44, 54, 54,
};

SECTION static int32_t fir_sample(const int16_t *newest, size_t count)
{
    int32_t sum = 0;

    for (size_t tap = 0; tap < count; tap++) {
        sum += taps[tap] * *newest--;
    }
    return sum >> SHIFT;
}

SECTION void filter_low_pass(const int16_t *input, int16_t *output, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        output[at] = (int16_t)fir_sample(&input[at], at < TAPS ? at + 1 : TAPS);
    }
}
