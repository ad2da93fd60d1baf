/* Task switch: two tasks of one priority yield to each other. Neither waits for anything. `overhead` is a yield that
 * leads back to the same task; it is no part of a switch that could be taken off, for the kernel does in it all that it
 * does in a switch. */
#include "measure.h"

#include "unoptimised.h"

static volatile uint32_t second_count;
static volatile bool begun;

static void second(void *unused)
{
    (void)unused;
    /* The first one measures from here on. The tick may have changed whose turn it is. */
    do {
        taskYIELD();
    } while (!begun);
    for (second_count = 0; second_count < APP_LOOPS - 1; second_count++) {
        taskYIELD();
    }
    measure_finish(measure_end());
}

static void first(void *unused)
{
    (void)unused;
    measure_create(second, "second", PRIORITY_LOW);
    taskYIELD();
    begun = true;
    measure_begin();
    for (measure_count = 0; measure_count < APP_LOOPS; measure_count++) {
        taskYIELD();
    }
    /* The second task ends the measurement with the last switch to it. */
    vTaskSuspend(NULL);
}

void measure_task_switch(void)
{
    measured.loop = measure_empty_loop(APP_LOOPS) + measure_empty_loop(APP_LOOPS - 1);
    measure_begin();
    taskYIELD();
    measured.overhead = measure_end();
    measured.operations = 2 * APP_LOOPS - 1;
    measure_create(first, "first", PRIORITY_LOW);
    measure_wait();
}
