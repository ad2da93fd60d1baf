#include "string.h"

/* Clang must not turn these loops into calls of themselves. */
#define NO_LIBRARY_CALLS __attribute__((no_builtin))

NO_LIBRARY_CALLS size_t strlen(const char *text)
{
    const char *end = text;

    while (*end) {
        end++;
    }
    return (size_t)(end - text);
}

NO_LIBRARY_CALLS char *strchr(const char *text, int character)
{
    for (;; text++) {
        if (*text == (char)character) {
            return (char *)(size_t)text;
        }
        if (!*text) {
            return 0;
        }
    }
}
