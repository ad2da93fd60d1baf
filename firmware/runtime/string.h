/* The functions of the C library's <string.h> in this runtime: memory.c, string.c. */
#ifndef STRING_H
#define STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);

size_t strlen(const char *text);
char *strchr(const char *text, int character);

#endif
