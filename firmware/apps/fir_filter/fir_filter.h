/* A signal, and a low-pass filter over it. Samples are 16 bits with sign. */
#ifndef FIR_FILTER_H
#define FIR_FILTER_H

#include <stddef.h>
#include <stdint.h>

/* A triangle of 64 samples with noise on it: the same each time. */
void signal_make(int16_t *samples, size_t count);

/* The mean of the samples' squares. */
uint32_t signal_power(const int16_t *samples, size_t count);

/* Each sample as the filter's taps weigh it and those before it; before the first there is silence. */
void filter_low_pass(const int16_t *input, int16_t *output, size_t count);

#endif
