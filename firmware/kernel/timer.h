/* Timers: functions that are called by an interrupt when their time has come. */
#ifndef TIMER_H
#define TIMER_H

#include "list.h"

#include <stdint.h>

/* With interrupts kept out; must not sleep. */
typedef void timer_function(void *arg);

struct timer {
    struct list_head entry; /* among those that wait, the next one first */
    uint64_t due_ticks;
    timer_function *function;
    void *arg;
};

/* Takes the alarm; kernel_start does. */
void timers_start(void);

void timer_init(struct timer *timer, timer_function *function, void *arg);

/* Has it called once, at `due_ticks` of clock_ticks() or soon after; anew if it was waiting. */
void timer_start(struct timer *timer, uint64_t due_ticks);

/* It is not called, unless it has been. */
void timer_stop(struct timer *timer);

/* Sleeps until it is woken, or until `due_ticks`; thread_set_state comes before. */
void schedule_timeout(uint64_t due_ticks);

#endif
