#include "mutex.h"

void mutex_init(struct mutex *mutex)
{
    mutex->owner = 0;
    wait_queue_init(&mutex->queue);
}

static bool take(struct mutex *mutex)
{
    uint32_t before = spin_lock_irqsave(&mutex->queue.lock);
    bool free = !mutex->owner;

    if (free) {
        mutex->owner = thread_current();
    }
    spin_unlock_irqrestore(&mutex->queue.lock, before);
    return free;
}

void mutex_lock(struct mutex *mutex)
{
    if (mutex->owner == thread_current()) {
        kernel_fault("a mutex is locked by its owner");
    }
    if (!take(mutex)) {
        wait_event(&mutex->queue, take(mutex));
    }
}

void mutex_unlock(struct mutex *mutex)
{
    if (mutex->owner != thread_current()) {
        kernel_fault("a mutex is unlocked by another thread than its owner");
    }
    mutex->owner = 0;
    wake_up(&mutex->queue);
}
