#include "workqueue.h"

#include "delay.h"

/* The additional time of a kernel as large as Linux for the wake-up of a worker: the setting wakeup_ns.
 * It is spent here and nowhere else. */
static void spend_wakeup(void)
{
#if APP_WAKEUP_NS
    ndelay(APP_WAKEUP_NS);
#endif
}

void work_init(struct work *work, work_function *function)
{
    list_init(&work->entry);
    work->pending = false;
    work->function = function;
}

/* The next work, which may be queued anew from now on. Without one the thread sleeps at its next schedule(). */
static struct work *take(struct workqueue *queue)
{
    struct work *work = 0;
    uint32_t before = spin_lock_irqsave(&queue->lock);

    if (list_empty(&queue->items)) {
        thread_set_state(THREAD_SLEEPING);
    } else {
        work = list_first_entry(&queue->items, struct work, entry);
        list_del_init(&work->entry);
        work->pending = false;
    }
    spin_unlock_irqrestore(&queue->lock, before);
    return work;
}

static void work_through(void *arg)
{
    struct workqueue *queue = arg;

    for (;;) {
        struct work *work = take(queue);

        if (work) {
            work->function(work);
        } else {
            schedule();
            spend_wakeup();
        }
    }
}

void workqueue_init(struct workqueue *queue, const char *name, void *stack, uint32_t stack_bytes, uint32_t priority)
{
    spin_lock_init(&queue->lock);
    list_init(&queue->items);
    thread_create(&queue->worker, name, work_through, queue, stack, stack_bytes, priority);
}

bool queue_work(struct workqueue *queue, struct work *work)
{
    uint32_t before = spin_lock_irqsave(&queue->lock);
    bool queued = !work->pending;

    if (queued) {
        work->pending = true;
        list_add_tail(&work->entry, &queue->items);
        (void)thread_wake(&queue->worker);
    }
    spin_unlock_irqrestore(&queue->lock, before);
    return queued;
}
