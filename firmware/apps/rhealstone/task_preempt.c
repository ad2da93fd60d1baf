/* Pre-emption: a task makes one of higher priority ready, which takes over and suspends itself again. An operation is the way there and back;
 * `overhead` is the way back alone, once. */
#include "measure.h"

#include "unoptimised.h"

/* The first loop only gets the high task to where it suspends itself; a single loop measures one operation all the same. */
#define OPERATIONS (APP_LOOPS > 1 ? APP_LOOPS - 1 : 1)

static void high(void *unused)
{
    (void)unused;
    measure_begin();
    for (;;) {
        vTaskSuspend(NULL);
    }
}

static void low(void *unused)
{
    (void)unused;
    TaskHandle_t preempting = measure_create(high, "high", PRIORITY_HIGH);
    measured.overhead = measure_end();

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
