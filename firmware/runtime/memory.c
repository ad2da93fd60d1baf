/* Functions that a compiler may call by itself (C11 4, freestanding, as GCC and Clang read it). */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);

#define WORD sizeof(uint32_t)

/* Clang must not turn these loops into calls of themselves. */
#define NO_LIBRARY_CALLS __attribute__((no_builtin))

NO_LIBRARY_CALLS void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;

    if ((((uintptr_t)target | (uintptr_t)source) & (WORD - 1)) == 0) {
        for (; bytes >= WORD; bytes -= WORD, target += WORD, source += WORD) {
            *(uint32_t *)(void *)target = *(const uint32_t *)(const void *)source;
        }
    }
    while (bytes--) {
        *target++ = *source++;
    }
    return to;
}

NO_LIBRARY_CALLS void *memmove(void *to, const void *from, size_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;

    if (target <= source || target >= source + bytes) {
        while (bytes--) {
            *target++ = *source++;
        }
    } else {
        while (bytes--) {
            target[bytes] = source[bytes];
        }
    }
    return to;
}

NO_LIBRARY_CALLS void *memset(void *to, int value, size_t bytes)
{
    uint8_t *target = to;

    while (bytes--) {
        *target++ = (uint8_t)value;
    }
    return to;
}

NO_LIBRARY_CALLS int memcmp(const void *left, const void *right, size_t bytes)
{
    const uint8_t *a = left, *b = right;

    for (; bytes; bytes--, a++, b++) {
        if (*a != *b) {
            return *a < *b ? -1 : 1;
        }
    }
    return 0;
}
