/* Mutexes: one owner at a time, and no waiter is forgotten. */
#include "mutex.h"

#include "completion.h"
#include "delay.h"
#include "expect.h"

#define STACK_BYTES 4096
#define ROUNDS 50u

static struct thread first, second;
THREAD_STACK(first_stack, STACK_BYTES);
THREAD_STACK(second_stack, STACK_BYTES);

static struct mutex mutex;
static struct completion ended;
static uint32_t inside, sum;

static void lock_and_note(void *arg)
{
    note('t');
    mutex_lock(&mutex);
    note(*(const char *)arg);
    mutex_unlock(&mutex);
}

static void waiters_in_order(void)
{
    mutex_init(&mutex);
    mutex_lock(&mutex);
    thread_create(&first, "first", lock_and_note, "a", first_stack, sizeof first_stack, PRIORITY_MAIN);
    thread_create(&second, "second", lock_and_note, "b", second_stack, sizeof second_stack, PRIORITY_MAIN);
    thread_yield();
    note('m');
    thread_yield();
    mutex_unlock(&mutex);
    note('n');
    thread_yield();
    thread_yield();
    expect_events("ttmnab");
    expect(!mutex.owner, "it is free");
}

static void add_up(void *arg)
{
    (void)arg;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        mutex_lock(&mutex);
        expect(inside++ == 0, "nobody else is inside");
        uint32_t before = sum;
        /* The others try meanwhile, asleep and awake. */
        if (round % 8 == 0) {
            msleep(1);
        } else {
            thread_yield();
        }
        sum = before + 1;
        inside--;
        mutex_unlock(&mutex);
        if (round % 3 == 0) {
            thread_yield();
        }
    }
    complete(&ended);
}

static int program(void)
{
    waiters_in_order();
    completion_init(&ended);
    thread_create(&first, "first", add_up, 0, first_stack, sizeof first_stack, PRIORITY_MAIN + 1);
    thread_create(&second, "second", add_up, 0, second_stack, sizeof second_stack, PRIORITY_MAIN);
    add_up(0);
    for (uint32_t i = 0; i < 3; i++) {
        wait_for_completion(&ended);
    }
    expect(sum == 3 * ROUNDS, "nothing is lost");
    console_print("mutex: ok\n");
    return EXIT_OK;
}

int main(void)
{
    kernel_start(program);
}
