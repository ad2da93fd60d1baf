/* Workqueues. `worker_ticks` on the console is the time from queue_work to the end of waiting for what the work
 * completes. */
#include "workqueue.h"

#include "clock.h"
#include "completion.h"
#include "expect.h"
#include "result.h"

#define ROUNDS 8u

static struct workqueue queue, urgent;
THREAD_STACK(queue_stack, 4096);
THREAD_STACK(urgent_stack, 4096);

/* A work in a structure of its user's. */
struct job {
    char letter;
    uint32_t repeats;
    struct work work;
};

static struct completion done;

static void run_job(struct work *work)
{
    struct job *job = container_of(work, struct job, work);

    note(job->letter);
    if (job->repeats) {
        job->repeats--;
        expect(queue_work(&queue, work), "a work queues itself");
        expect(!queue_work(&queue, work), "but not twice");
    }
}

static void run_and_complete(struct work *work)
{
    (void)work;
    complete(&done);
}

static void give_way(void)
{
    completion_init(&done);
    (void)wait_for_completion_timeout(&done, 1000);
}

static struct job job(char letter, uint32_t repeats)
{
    struct job new = {letter, repeats, {{0, 0}, false, 0}};

    return new;
}

/* In order, and what is queued already only once. */
static void each_once(void)
{
    struct job a = job('a', 0), b = job('b', 0);

    work_init(&a.work, run_job);
    work_init(&b.work, run_job);
    expect(queue_work(&queue, &a.work), "it was not queued");
    expect(queue_work(&queue, &b.work), "nor was the other");
    expect(!queue_work(&queue, &a.work), "now it is");
    note('m');
    give_way();
    expect_events("mab");
    expect(queue_work(&queue, &b.work), "what has run may be queued again");
    give_way();
    expect_events("b");
}

static void by_itself(void)
{
    struct job a = job('a', 3), b = job('b', 0);

    work_init(&a.work, run_job);
    work_init(&b.work, run_job);
    queue_work(&queue, &a.work);
    queue_work(&queue, &b.work);
    give_way();
    expect_events("abaaa");
}

/* Each queue has a thread: the one of the higher priority goes first. */
static void by_priority(void)
{
    struct job a = job('a', 0), b = job('b', 0);

    work_init(&a.work, run_job);
    work_init(&b.work, run_job);
    queue_work(&queue, &a.work);
    queue_work(&urgent, &b.work);
    give_way();
    expect_events("ba");
}

/* The way of a message to a driver's worker and back. */
static void time_of_a_round(void)
{
    struct work work;
    uint32_t ticks = 0;

    work_init(&work, run_and_complete);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        completion_init(&done);
        uint64_t start = clock_ticks();
        queue_work(&queue, &work);
        wait_for_completion(&done);
        /* The last one: code and data are in the caches. */
        ticks = (uint32_t)(clock_ticks() - start);
    }
    result_number("worker_ticks", "ticks", ticks);
}

static int program(void)
{
    workqueue_init(&queue, "queue", queue_stack, sizeof queue_stack, PRIORITY_MAIN + 1);
    workqueue_init(&urgent, "urgent", urgent_stack, sizeof urgent_stack, PRIORITY_MAIN + 2);
    /* The workers go to sleep. */
    give_way();
    each_once();
    by_itself();
    by_priority();
    time_of_a_round();
    console_print("workqueue: ok\n");
    return EXIT_OK;
}

int main(void)
{
    kernel_start(program);
}
