/* How operations are measured: by the ticks of a timer that is started before a loop of them and read after it. The
 * method is that of the Rhealstone programs that come with RTEMS (testsuites/rhealstone there), which the loop counts
 * of Atmel-44043A follow: N loops are 2N - 1 switches, N - 1 pre-emptions. But unless it is asked for (less_loops), the
 * loops' own ticks, and the timer's, are not taken off: that note's single loops take longer than its averages even
 * without caches, where there is nothing else that a first loop could be slower by. */
#ifndef MEASURE_H
#define MEASURE_H

#include "section.h"

#include <FreeRTOS.h>
#include <task.h>

#include <stdbool.h>
#include <stdint.h>

#if APP_PINS_ON
#include "pins.h"
#define MEASURE_CONFIGURE(timer) pins_configure(timer)
#define MEASURE_START(timer) pins_start(timer)
#define MEASURE_TICKS(timer) pins_ticks(timer)
#else
#define MEASURE_CONFIGURE(timer) tc_configure(timer)
#define MEASURE_START(timer) tc_start(timer)
#define MEASURE_TICKS(timer) tc_ticks(timer)
#define pins_handler(runs) ((void)0)
#endif

/* Of one operation, in ticks of the timer but for `operations`. */
struct measurement {
    uint32_t total;      /* from the first operation's start to the last one's end */
    uint32_t loop;       /* what the loops alone take, or the timer by itself: taken off only if that is asked for */
    uint32_t base;       /* what the same loops take without the operation, where it comes with others: taken off */
    uint32_t overhead;   /* a part of the operation by itself, see there: not taken off */
    uint32_t operations; /* how many there were */
    bool overflowed;     /* the timer wrapped: the result is worth nothing */
};

/* Priorities of the tasks that are measured: above the one that controls and reports. */
#define PRIORITY_CONTROL (tskIDLE_PRIORITY + 1u)
#define PRIORITY_LOW (tskIDLE_PRIORITY + 2u)
#define PRIORITY_MID (tskIDLE_PRIORITY + 3u)
#define PRIORITY_HIGH (tskIDLE_PRIORITY + 4u)

/* The present measurement. One at a time. */
extern struct measurement measured;

/* The loops' counter, volatile as all that tasks share: so a loop has the same cost with and without the operation. */
extern volatile uint32_t measure_count;

/* Starts the timer; returns its ticks since. Functions, so that a simulator can find the start and the end of a
 * measurement. */
void measure_begin(void);
uint32_t measure_end(void);

/* Waits for the kernel's tick if it comes: what is measured next has a millisecond without one. */
void measure_align(void);

/* Ticks of `turns` turns of an empty loop. */
uint32_t measure_empty_loop(uint32_t turns);

/* Gets the timer ready. */
void measure_control(void);

/* Makes a task, which runs at once if its priority is above the caller's. */
TaskHandle_t measure_create(TaskFunction_t task, const char *name, UBaseType_t priority);

/* The place of a task among those that measure_create made, from 0 on; -1 for others. */
int measure_place(const void *task);

/* By the task that has the result: the `total` of it, for the task in measure_wait. */
_Noreturn void measure_finish(uint32_t total);

/* By the controlling task: runs when no other can, until measure_finish was called; then ends the tasks that
 * measure_create made. */
void measure_wait(void);

/* The operations: each makes its tasks, measures APP_LOOPS of it, and leaves the result in `measured`. Called by the
 * controlling task. */
void measure_task_switch(void);
void measure_task_preempt(void);
void measure_interrupt_latency(void);
void measure_semaphore_shuffle(void);
void measure_deadlock_break(void);
void measure_message_latency(void);

#endif
