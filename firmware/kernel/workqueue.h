/* Workqueues: functions that a thread of the queue's own runs later, one after the other. */
#ifndef WORKQUEUE_H
#define WORKQUEUE_H

#include "kernel.h"

struct work;
typedef void work_function(struct work *work);

/* Part of a structure that container_of finds. */
struct work {
    struct list_head entry;
    bool pending; /* queued and not begun */
    work_function *function;
};

struct workqueue {
    struct spin_lock lock;
    struct list_head items;
    struct thread worker;
};

void work_init(struct work *work, work_function *function);

/* Starts the queue's worker thread. */
void workqueue_init(struct workqueue *queue, const char *name, void *stack, uint32_t stack_bytes, uint32_t priority);

/* Has the worker run a work's function. False if it is queued already: it then runs once. From the moment its function
 * begins on, it may be queued anew, by itself too. Threads and interrupt handlers may call it. */
bool queue_work(struct workqueue *queue, struct work *work);

#endif
