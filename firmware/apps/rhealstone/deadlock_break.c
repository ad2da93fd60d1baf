/* Deadlock break: a task of low priority holds a mutex that one of high priority waits for, while one of middle
 * priority could run. The low one inherits the high priority, gives the mutex back and so breaks the deadlock. The same
 * turns without the mutex are taken off; `overhead` is taking the mutex when it is free, once. */
#include "measure.h"

#include <semphr.h>

#include "unoptimised.h"

static SemaphoreHandle_t mutex;
static bool locks;
static TaskHandle_t high_task, mid_task;

static void high(void *unused)
{
    (void)unused;
    measure_begin();
    for (measure_count = 0; measure_count < APP_LOOPS; measure_count++) {
        if (locks) {
            /* The low task has it. */
            xSemaphoreTake(mutex, portMAX_DELAY);
            xSemaphoreGive(mutex);
        }
        vTaskSuspend(NULL);
    }
    measure_finish(measure_end());
}

static void mid(void *unused)
{
    (void)unused;
    high_task = measure_create(high, "high", PRIORITY_HIGH);
    while (measure_count < APP_LOOPS) {
        vTaskSuspend(NULL);
        vTaskResume(high_task);
    }
    vTaskSuspend(NULL);
}

static void low(void *unused)
{
    (void)unused;
    if (locks) {
        xSemaphoreTake(mutex, portMAX_DELAY);
    }
    mid_task = measure_create(mid, "mid", PRIORITY_MID);
    while (measure_count < APP_LOOPS) {
        if (locks) {
            /* Here the high task takes over. */
            xSemaphoreGive(mutex);
            xSemaphoreTake(mutex, portMAX_DELAY);
        }
        vTaskResume(mid_task);
    }
    vTaskSuspend(NULL);
}

static uint32_t run(bool with_mutex)
{
    locks = with_mutex;
    measure_count = 0;
    measure_create(low, "low", PRIORITY_LOW);
    measure_wait();
    return measured.total;
}

void measure_deadlock_break(void)
{
    mutex = xSemaphoreCreateMutex();
    configASSERT(mutex);
    measure_begin();
    xSemaphoreTake(mutex, portMAX_DELAY);
    measured.overhead = measure_end();
    xSemaphoreGive(mutex);
    measured.base = run(false);
    run(true);
    measured.operations = APP_LOOPS;
    vSemaphoreDelete(mutex);
}
