/* Functions to measure, each with time of its own: divisions, lines of memory, registers, loads and stores. */
#include <stdint.h>

#include "console.h"

#define WORDS 8192

static volatile uint32_t words[WORDS];
static volatile uint32_t sink;

__attribute__((noinline)) void divide(void)
{
    uint32_t sum = 0;
    for (uint32_t i = 1; i <= 100; i++)
        sum += 1000000007u / (i | sink);
    sink = sum;
}

/* Each load is of another line. */
__attribute__((noinline)) void stride(void)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < WORDS; i += 16)
        sum += words[i];
    sink = sum;
}

__attribute__((noinline)) void fill(void)
{
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i;
}

__attribute__((noinline)) void print(void)
{
    console_print("a line for people\n");
}

int main(void)
{
    fill();
    stride();
    divide();
    print();
    return 0;
}
