#include "wait.h"

void wait_queue_init(struct wait_queue_head *queue)
{
    spin_lock_init(&queue->lock);
    list_init(&queue->waiters);
}

void prepare_to_wait(struct wait_queue_head *queue, struct waiter *waiter)
{
    if (!waiter->thread) {
        list_init(&waiter->entry);
        waiter->thread = thread_current();
    }
    uint32_t before = spin_lock_irqsave(&queue->lock);
    if (list_empty(&waiter->entry)) {
        list_add_tail(&waiter->entry, &queue->waiters);
    }
    thread_set_state(THREAD_SLEEPING);
    spin_unlock_irqrestore(&queue->lock, before);
}

void finish_wait(struct wait_queue_head *queue, struct waiter *waiter)
{
    thread_set_state(THREAD_RUNNING);
    uint32_t before = spin_lock_irqsave(&queue->lock);
    list_del_init(&waiter->entry);
    spin_unlock_irqrestore(&queue->lock, before);
}

/* A thread that is woken leaves the queue, so that the next wake-up is another's. */
static void wake_first(struct wait_queue_head *queue)
{
    struct waiter *waiter = list_first_entry(&queue->waiters, struct waiter, entry);

    list_del_init(&waiter->entry);
    (void)thread_wake(waiter->thread);
}

void wake_up(struct wait_queue_head *queue)
{
    uint32_t before = spin_lock_irqsave(&queue->lock);

    if (!list_empty(&queue->waiters)) {
        wake_first(queue);
    }
    spin_unlock_irqrestore(&queue->lock, before);
}

void wake_up_all(struct wait_queue_head *queue)
{
    uint32_t before = spin_lock_irqsave(&queue->lock);

    while (!list_empty(&queue->waiters)) {
        wake_first(queue);
    }
    spin_unlock_irqrestore(&queue->lock, before);
}
