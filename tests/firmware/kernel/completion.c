/* Completions and wait queues. */
#include "completion.h"

#include "clock.h"
#include "expect.h"

#define STACK_BYTES 4096

static struct thread first, second;
THREAD_STACK(first_stack, STACK_BYTES);
THREAD_STACK(second_stack, STACK_BYTES);

static struct completion done;
static struct wait_queue_head queue;
static volatile uint32_t level;

static void create(struct thread *thread, void *stack, thread_function *function, void *arg, uint32_t priority)
{
    thread_create(thread, "test", function, arg, stack, STACK_BYTES, priority);
}

static void wait_and_note(void *arg)
{
    wait_for_completion(&done);
    note(*(const char *)arg);
}

static void complete_and_note(void *arg)
{
    (void)arg;
    note('c');
    complete(&done);
    note('d');
}

/* A completion that was done before needs no wait: one for each time. */
static void done_before(void)
{
    completion_init(&done);
    complete(&done);
    complete(&done);
    wait_for_completion(&done);
    wait_for_completion(&done);
    expect(!wait_for_completion_timeout(&done, 10), "two times are two times");
    complete(&done);
    completion_init(&done);
    expect(!wait_for_completion_timeout(&done, 10), "what was done is forgotten");
}

static void done_by_another(void)
{
    completion_init(&done);
    create(&first, first_stack, complete_and_note, 0, PRIORITY_LOWEST);
    note('m');
    wait_for_completion(&done);
    /* The other thread continues after this one: it has the lower priority. */
    note('n');
    thread_yield();
    expect_events("mcdn");
}

/* Those who wait are served in the order in which they came. */
static void each_time_is_one_waiter_s(void)
{
    completion_init(&done);
    create(&first, first_stack, wait_and_note, "a", PRIORITY_MAIN);
    create(&second, second_stack, wait_and_note, "b", PRIORITY_MAIN);
    thread_yield();
    complete(&done);
    thread_yield();
    expect_events("a");
    complete(&done);
    thread_yield();
    expect_events("b");
}

static void time_outs(void)
{
    completion_init(&done);
    uint64_t start = clock_ticks();
    expect(!wait_for_completion_timeout(&done, 2000), "nobody does it");
    /* Ticks of 83.3 ns: not too early, and by the alarm's resolution late. */
    expect_between((uint32_t)(clock_ticks() - start), 24000, 24500, "ticks of a time-out of 2 ms");

    create(&first, first_stack, complete_and_note, 0, PRIORITY_LOWEST);
    start = clock_ticks();
    expect(wait_for_completion_timeout(&done, 100000), "it is done in time");
    expect_between((uint32_t)(clock_ticks() - start), 1, 6000, "ticks until it is done");
    thread_yield();
    events = 0;
}

static void wait_for_level(void *arg)
{
    wait_event(&queue, level >= *(const uint32_t *)arg);
    note(level >= 2 ? '2' : '1');
}

/* A wake-up lets the condition be looked at, no more. */
static void conditions(void)
{
    static const uint32_t one = 1, two = 2;

    wait_queue_init(&queue);
    create(&first, first_stack, wait_for_level, (void *)&two, PRIORITY_MAIN);
    create(&second, second_stack, wait_for_level, (void *)&one, PRIORITY_MAIN);
    thread_yield();
    wake_up_all(&queue);
    thread_yield();
    expect_events("");
    level = 1;
    wake_up_all(&queue);
    thread_yield();
    expect_events("1");
    level = 2;
    wake_up(&queue);
    thread_yield();
    expect_events("2");
    expect(list_empty(&queue.waiters), "nobody waits any more");
}

static int program(void)
{
    done_before();
    done_by_another();
    each_time_is_one_waiter_s();
    time_outs();
    conditions();
    console_print("completion: ok\n");
    return EXIT_OK;
}

int main(void)
{
    kernel_start(program);
}
