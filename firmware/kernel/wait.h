/* Wait queues: threads that sleep until a condition holds. */
#ifndef WAIT_H
#define WAIT_H

#include "kernel.h"

struct wait_queue_head {
    struct spin_lock lock;
    struct list_head waiters;
};

/* One thread's place in a queue, on its stack. */
struct waiter {
    struct list_head entry;
    struct thread *thread;
};

void wait_queue_init(struct wait_queue_head *queue);

/* Enters the running thread and makes it sleep at its next schedule(); the condition is looked at after this. */
void prepare_to_wait(struct wait_queue_head *queue, struct waiter *waiter);

/* Takes the thread out again. */
void finish_wait(struct wait_queue_head *queue, struct waiter *waiter);

/* Wakes all threads of a queue, or the one that has waited longest. Threads and interrupt handlers may call it. */
void wake_up_all(struct wait_queue_head *queue);
void wake_up(struct wait_queue_head *queue);

/* Sleeps until `condition` holds, which is looked at before, and after each wake-up. */
#define wait_event(queue, condition)                 \
    do {                                             \
        struct waiter waiter_ = {{0, 0}, 0};         \
        for (;;) {                                   \
            prepare_to_wait((queue), &waiter_);      \
            if (condition) {                         \
                break;                               \
            }                                        \
            schedule();                              \
        }                                            \
        finish_wait((queue), &waiter_);              \
    } while (0)

#endif
