/* Semaphore shuffle: two tasks of one priority take and give a binary semaphore, so that each waits for the other. The
 * same turns without the semaphore are taken off. */
#include "measure.h"

#include <semphr.h>

#include "unoptimised.h"

static SemaphoreHandle_t semaphore;
static bool shuffles;

static void turn(void)
{
    if (shuffles) {
        xSemaphoreTake(semaphore, portMAX_DELAY);
    }
    taskYIELD();
    if (shuffles) {
        xSemaphoreGive(semaphore);
    }
    taskYIELD();
}

static void second(void *unused)
{
    (void)unused;
    measure_begin();
    for (measure_count = 0; measure_count < APP_LOOPS; measure_count++) {
        turn();
    }
    measure_finish(measure_end());
}

static void first(void *unused)
{
    (void)unused;
    measure_create(second, "second", PRIORITY_LOW);
    taskYIELD();
    while (measure_count < APP_LOOPS) {
        turn();
    }
    vTaskSuspend(NULL);
}

static uint32_t run(bool with_semaphore)
{
    shuffles = with_semaphore;
    measure_count = 0;
    measure_create(first, "first", PRIORITY_LOW);
    measure_wait();
    return measured.total;
}

void measure_semaphore_shuffle(void)
{
    semaphore = xSemaphoreCreateBinary();
    configASSERT(semaphore);
    xSemaphoreGive(semaphore);
    measured.base = run(false);
    run(true);
    measured.operations = 2 * APP_LOOPS;
    vSemaphoreDelete(semaphore);
}
