/* Division one bit a step, as by hand, for an unsigned type: the result is a `struct name_result`. */
#ifndef LONG_DIVISION_H
#define LONG_DIVISION_H

/* Division by 0 gives all ones and the dividend, as the M extension has it. */
#define LONG_DIVISION(name, type, bits)                                                     \
    struct name##_result {                                                                  \
        type value;                                                                         \
        type remainder;                                                                     \
    };                                                                                      \
    static struct name##_result name(type dividend, type divisor)                           \
    {                                                                                       \
        struct name##_result result = {0, 0};                                               \
        for (int bit = (bits)-1; bit >= 0; bit--) {                                         \
            /* The remainder's top bit may be shifted out: it then exceeds any divisor. */  \
            type carry = result.remainder >> ((bits)-1);                                    \
            result.remainder = result.remainder << 1 | ((dividend >> bit) & 1);             \
            result.value <<= 1;                                                             \
            if (carry || result.remainder >= divisor) {                                     \
                result.remainder -= divisor;                                                \
                result.value |= 1;                                                          \
            }                                                                               \
        }                                                                                   \
        return result;                                                                      \
    }

#endif
