#include "measure.h"

#include "atmel_tc.h"

#include "unoptimised.h"

#define TASKS 3

#define TIMER 0u

struct measurement measured;
volatile uint32_t measure_count;

static volatile bool finished;
static TaskHandle_t tasks[TASKS];
static int task_count;

SECTION void measure_begin(void)
{
    MEASURE_START(TIMER);
}

SECTION uint32_t measure_end(void)
{
    return MEASURE_TICKS(TIMER);
}

void measure_align(void)
{
#if APP_TICK_ON
    vTaskDelay(1);
#endif
}

uint32_t measure_empty_loop(uint32_t turns)
{
    measure_begin();
    for (measure_count = 0; measure_count < turns; measure_count++) {
    }
    return measure_end();
}

void measure_control(void)
{
    MEASURE_CONFIGURE(TIMER);
}

TaskHandle_t measure_create(TaskFunction_t task, const char *name, UBaseType_t priority)
{
    configASSERT(task_count < TASKS);
    /* Before the task runs, which may be within the call. */
    TaskHandle_t *handle = &tasks[task_count++];
    BaseType_t made = xTaskCreate(task, name, configMINIMAL_STACK_SIZE, NULL, priority, handle);
    configASSERT(made == pdPASS);
    return *handle;
}

_Noreturn void measure_finish(uint32_t total)
{
    measured.total = total;
    /* The controlling task has the lowest priority: it gets to run when none of the others can. */
    finished = true;
    for (int i = 0; i < task_count; i++) {
        if (tasks[i] != xTaskGetCurrentTaskHandle()) {
            vTaskSuspend(tasks[i]);
        }
    }
    for (;;) {
        vTaskSuspend(NULL);
    }
}

void measure_wait(void)
{
    while (!finished) {
    }
    finished = false;
    measured.overflowed = tc_overflowed(TIMER);
    while (task_count) {
        vTaskDelete(tasks[--task_count]);
    }
}

#if APP_PINS_ON
int measure_place(const void *task)
{
    for (int i = 0; i < task_count; i++) {
        if (tasks[i] == task) {
            return i;
        }
    }
    return -1;
}
#endif
