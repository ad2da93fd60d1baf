/* Locks that threads sleep for. Not for interrupt handlers. */
#ifndef MUTEX_H
#define MUTEX_H

#include "wait.h"

struct mutex {
    struct thread *owner;
    struct wait_queue_head queue;
};

void mutex_init(struct mutex *mutex);

/* Not for its owner: that is a fault. */
void mutex_lock(struct mutex *mutex);

/* Only for its owner. */
void mutex_unlock(struct mutex *mutex);

#endif
