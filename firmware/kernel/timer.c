#include "timer.h"

#include "board.h"
#include "clock.h"
#include "irq.h"
#include "jz4740_tcu.h"
#include "kernel.h"

/* Those that wait, by the time when they are due. */
static struct list_head waiting = LIST_HEAD_INIT(waiting);

static struct timer *first(void)
{
    return list_first_entry(&waiting, struct timer, entry);
}

static void run_due(void)
{
    while (!list_empty(&waiting) && first()->due_ticks <= clock_ticks()) {
        struct timer *timer = first();

        list_del_init(&timer->entry);
        timer->function(timer->arg);
    }
}

static void on_alarm(void *arg)
{
    (void)arg;
    tcu_acknowledge_alarm();
    run_due();
    if (!list_empty(&waiting)) {
        tcu_set_alarm(first()->due_ticks);
    }
}

/* Counts the wraps while the time is not read. */
static void on_wrap(void *arg)
{
    (void)arg;
    tcu_acknowledge_wrap();
    (void)clock_ticks();
}

void timers_start(void)
{
    (void)request_irq(BOARD_IRQ_TCU2, on_alarm, 0);
    (void)request_irq(BOARD_IRQ_TCU1, on_wrap, 0);
    tcu_enable_wrap_interrupt();
}

void timer_init(struct timer *timer, timer_function *function, void *arg)
{
    list_init(&timer->entry);
    timer->function = function;
    timer->arg = arg;
}

/* The timer that comes after one that is due then, or the list's head. */
static struct list_head *place(uint64_t due_ticks)
{
    list_for_each(entry, &waiting)
    {
        if (container_of(entry, struct timer, entry)->due_ticks > due_ticks) {
            return entry;
        }
    }
    return &waiting;
}

void timer_start(struct timer *timer, uint64_t due_ticks)
{
    uint32_t before = irq_save();

    list_del_init(&timer->entry);
    timer->due_ticks = due_ticks;
    list_add_tail(&timer->entry, place(due_ticks));
    if (first() == timer) {
        tcu_set_alarm(due_ticks);
    }
    irq_restore(before);
}

void timer_stop(struct timer *timer)
{
    uint32_t before = irq_save();

    list_del_init(&timer->entry);
    irq_restore(before);
}

static void wake(void *thread)
{
    (void)thread_wake(thread);
}

void schedule_timeout(uint64_t due_ticks)
{
    struct timer timer;

    timer_init(&timer, wake, thread_current());
    timer_start(&timer, due_ticks);
    schedule();
    timer_stop(&timer);
}
