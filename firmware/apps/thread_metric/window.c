#include "window.h"

#include "armv7m.h"
#include "console.h"
#include "exit.h"
#include "section.h"

#include <FreeRTOS.h>
#include <task.h>

volatile uint32_t window_counts[SERVICES_THREADS];
volatile uint32_t window_interrupts;

static void look(struct window *now)
{
    now->cycles = armv7m_cycles();
    for (int thread = 0; thread < SERVICES_THREADS; thread++) {
        now->counts[thread] = window_counts[thread];
    }
    now->interrupts = window_interrupts;
}

/* A function of its own, so that a simulator can attribute the window's time. */
SECTION static void window_wait(void)
{
    vTaskDelay(pdMS_TO_TICKS(APP_WINDOW_MS));
}

struct window window_measure(void)
{
    struct window before;
    struct window after;

    /* From a tick on, with all of the loop done once. */
    vTaskDelay(2);
    look(&before);
    window_wait();
    look(&after);
    after.cycles -= before.cycles;
    for (int thread = 0; thread < SERVICES_THREADS; thread++) {
        after.counts[thread] -= before.counts[thread];
    }
    after.interrupts -= before.interrupts;
    return after;
}

_Noreturn void window_fail(const char *what)
{
    armv7m_disable_interrupts();
    console_print("thread_metric: %s\n", what);
    program_exit(EXIT_FAILED);
}
