/* Pre-emption: a task makes one of higher priority ready, which takes over and suspends itself again. An operation is
 * the way there and back, less a task switch, as RTEMS has it; `base` is what those switches take. Atmel-44043A takes
 * none off a single loop, by its numbers: its average and its task switch together are its single loop. `overhead` is
 * the way back alone, once. */
#include "measure.h"

#include "unoptimised.h"

/* The first loop only gets the high task to where it suspends itself; a single loop measures one operation all the
 * same. */
#define OPERATIONS (APP_LOOPS > 1 ? APP_LOOPS - 1 : 1)

#if APP_LESS_SWITCHES_ALWAYS || (APP_LESS_SWITCHES_OF_MANY && APP_LOOPS > 1)
#define TAKES_SWITCHES_OFF true
#else
#define TAKES_SWITCHES_OFF false
#endif

static void high(void *unused)
{
    (void)unused;
    measure_begin();
    for (;;) {
        vTaskSuspend(NULL);
    }
}

/* Switches that a switch's cost is the average of: without caches, from the flash, a tick comes every few of them. */
#define SWITCHES 1000u

static void peer(void *unused)
{
    (void)unused;
    for (;;) {
        taskYIELD();
    }
}

/* Ticks of SWITCHES switches between two tasks of one priority. */
static uint32_t switch_ticks(void)
{
    TaskHandle_t other = measure_create(peer, "peer", PRIORITY_LOW);
    taskYIELD();
    measure_begin();
    for (measure_count = 0; measure_count < SWITCHES / 2; measure_count++) {
        taskYIELD();
    }
    uint32_t ticks = measure_end();
    vTaskSuspend(other);
    return ticks;
}

static void low(void *unused)
{
    (void)unused;
    if (TAKES_SWITCHES_OFF) {
        measured.base = (uint32_t)((uint64_t)switch_ticks() * OPERATIONS / SWITCHES);
    }
    TaskHandle_t preempting = measure_create(high, "high", PRIORITY_HIGH);
    measured.overhead = measure_end();

    measure_align();
    measure_begin();
    for (measure_count = 0; measure_count < OPERATIONS; measure_count++) {
        vTaskResume(preempting);
    }
    measure_finish(measure_end());
}

void measure_task_preempt(void)
{
    measured.loop = measure_empty_loop(2 * OPERATIONS);
    measured.operations = OPERATIONS;
    measure_create(low, "low", PRIORITY_LOW);
    measure_wait();
}
