#include "completion.h"

#include "clock.h"
#include "timer.h"

void completion_init(struct completion *completion)
{
    completion->done = 0;
    wait_queue_init(&completion->queue);
}

void complete(struct completion *completion)
{
    uint32_t before = spin_lock_irqsave(&completion->queue.lock);

    completion->done++;
    wake_up(&completion->queue);
    spin_unlock_irqrestore(&completion->queue.lock, before);
}

/* Takes one of the times that it was done. */
static bool take(struct completion *completion)
{
    uint32_t before = spin_lock_irqsave(&completion->queue.lock);
    bool done = completion->done;

    if (done) {
        completion->done--;
    }
    spin_unlock_irqrestore(&completion->queue.lock, before);
    return done;
}

void wait_for_completion(struct completion *completion)
{
    wait_event(&completion->queue, take(completion));
}

bool wait_for_completion_timeout(struct completion *completion, uint32_t microseconds)
{
    uint64_t due = clock_ticks() + clock_ticks_of_us(microseconds);
    struct waiter waiter = {{0, 0}, 0};
    bool done;

    for (;;) {
        prepare_to_wait(&completion->queue, &waiter);
        done = take(completion);
        if (done || clock_ticks() >= due) {
            break;
        }
        schedule_timeout(due);
    }
    finish_wait(&completion->queue, &waiter);
    return done;
}
