/* Common to the programs of this folder: checks. A program prints the first check that fails. */
#ifndef EXPECT_H
#define EXPECT_H

#include "console.h"
#include "exit.h"

#include <stdbool.h>
#include <stdint.h>

static inline void expect(bool holds, const char *what)
{
    if (!holds) {
        console_print("failed: %s\n", what);
        program_exit(EXIT_FAILED);
    }
}

static inline void expect_between(uint32_t value, uint32_t least, uint32_t most, const char *what)
{
    if (value < least || value > most) {
        console_print("failed: %s: %u is not within %u to %u\n", what, value, least, most);
        program_exit(EXIT_FAILED);
    }
}

/* The events in their order, a letter for each. */
static char happened[64];
static uint32_t events;

static inline void note(char event)
{
    if (events < sizeof happened - 1) {
        happened[events++] = event;
    }
}

static inline void expect_events(const char *expected)
{
    happened[events] = 0;
    for (uint32_t i = 0; i <= events; i++) {
        if (happened[i] != expected[i]) {
            console_print("failed: %s happened instead of %s\n", happened, expected);
            program_exit(EXIT_FAILED);
        }
    }
    events = 0;
}

#endif
