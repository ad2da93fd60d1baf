/* How a test is measured: threads count their loops, and one of a higher priority reads the counters at the
 * start and at the end of a window. */
#ifndef WINDOW_H
#define WINDOW_H

#include "services.h"

#include <stdbool.h>
#include <stdint.h>

/* The counters of the threads, one each, and that of the interrupt's handler. */
extern volatile uint32_t window_counts[SERVICES_THREADS];
extern volatile uint32_t window_interrupts;

struct window {
    uint32_t cycles; /* of the core */
    uint32_t counts[SERVICES_THREADS];
    uint32_t interrupts;
};

/* By the one that measures, with threads ready to run: what they do in APP_WINDOW_MS. */
struct window window_measure(void);

/* Ends the program: a service did not do what it should. */
_Noreturn void window_fail(const char *what);

/* A status that must be true. */
static inline void window_check(bool status, const char *what)
{
    if (!status) {
        window_fail(what);
    }
}

#endif
