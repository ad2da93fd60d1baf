/* The Rhealstone benchmark (R. P. Kar, Implementing the Rhealstone Real-Time Benchmark, Dr. Dobb's Journal, April 1990)
 * on FreeRTOS. */
#include "atmel_tc.h"
#include "board_support.h"
#include "console.h"
#include "exit.h"
#include "measure.h"

#include <FreeRTOS.h>
#include <task.h>

/* Words: the console's formatting at -O0. */
#define CONTROL_STACK 400

#if APP_LESS_LOOPS_ON
#define TAKES_LOOPS_OFF true
#else
#define TAKES_LOOPS_OFF false
#endif

struct operation {
    const char *name;
    void (*measure)(void);
};

static const struct operation operations[] = {
#if APP_OPERATION_ALL || APP_OPERATION_TASK_SWITCH
    {"task-switch", measure_task_switch},
#endif
#if APP_OPERATION_ALL || APP_OPERATION_TASK_PREEMPT
    {"task-preempt", measure_task_preempt},
#endif
#if APP_OPERATION_ALL || APP_OPERATION_INTERRUPT_LATENCY
    {"interrupt-latency", measure_interrupt_latency},
#endif
#if APP_OPERATION_ALL || APP_OPERATION_SEMAPHORE_SHUFFLE
    {"semaphore-shuffle", measure_semaphore_shuffle},
#endif
#if APP_OPERATION_ALL || APP_OPERATION_DEADLOCK_BREAK
    {"deadlock-break", measure_deadlock_break},
#endif
#if APP_OPERATION_ALL || APP_OPERATION_MESSAGE_LATENCY
    {"message-latency", measure_message_latency},
#endif
};

#if APP_RUN_TIME_STATS_ON
volatile uint32_t run_time_count;
#endif

static void report(const char *operation, const char *metric, const char *unit, uint64_t value)
{
    console_print("{\"metric\":\"%s\",\"operation\":\"%s\",\"unit\":\"%s\",\"value\":%llu}\n", metric, operation, unit,
                  (unsigned long long)value);
}

/* Cycles an operation, with three decimal digits, rounded down. */
static void report_cycles(const char *operation)
{
    uint32_t taken_off = measured.base + (TAKES_LOOPS_OFF ? measured.loop : 0);
    uint64_t ticks = measured.total > taken_off ? measured.total - taken_off : 0;
    uint64_t thousandths = TC_CORE_CYCLES(ticks) * 1000u / measured.operations;

    console_print("{\"metric\":\"cycles\",\"operation\":\"%s\",\"unit\":\"cycles\",\"value\":%llu.%03u}\n", operation,
                  (unsigned long long)(thousandths / 1000u), (uint32_t)(thousandths % 1000u));
}

static void report_all(const char *operation)
{
    report_cycles(operation);
    report(operation, "total_ticks", "ticks", measured.total);
    report(operation, "loop_ticks", "ticks", measured.loop);
    report(operation, "base_ticks", "ticks", measured.base);
    report(operation, "overhead_ticks", "ticks", measured.overhead);
    report(operation, "operations", "operations", measured.operations);
}

static void control(void *unused)
{
    (void)unused;
    measure_control();
#if APP_TICK_OFF
    freertos_stop_tick();
#endif
    for (uint32_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        measured = (struct measurement){.operations = 1};
        operations[i].measure();
        if (measured.overflowed) {
            console_print("%s: took longer than the timer can count\n", operations[i].name);
            program_exit(EXIT_FAILED);
        }
        report_all(operations[i].name);
    }
    program_exit(EXIT_OK);
}

int main(void)
{
    BaseType_t made = xTaskCreate(control, "control", CONTROL_STACK, NULL, PRIORITY_CONTROL, NULL);
    configASSERT(made == pdPASS);
    vTaskStartScheduler();
    return EXIT_FAILED;
}
