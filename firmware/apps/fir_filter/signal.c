#include "fir_filter.h"

#define HALF_PERIOD 32u
#define STEP 256

static uint32_t noise_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 20;
}

void signal_make(int16_t *samples, size_t count)
{
    uint32_t noise = 1;
    int32_t level = 0;

    for (size_t at = 0; at < count; at++) {
        level += at / HALF_PERIOD % 2 ? -STEP : STEP;
        samples[at] = (int16_t)(level - STEP * (int32_t)HALF_PERIOD / 2 + (int32_t)noise_next(&noise) - 2048);
    }
}

uint32_t signal_power(const int16_t *samples, size_t count)
{
    uint64_t sum = 0;

    for (size_t at = 0; at < count; at++) {
        sum += (uint32_t)(samples[at] * samples[at]);
    }
    return (uint32_t)(sum / count);
}
