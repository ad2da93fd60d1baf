/* The kernel's messages to programs that misuse it: a definition chooses the misuse. */
#include "completion.h"
#include "delay.h"
#include "expect.h"
#include "irq.h"
#include "mutex.h"
#include "timer.h"

#define STACK_BYTES 1024

static struct thread small;
/* The thread has the upper end: no other code uses the memory that it overwrites below. */
THREAD_STACK(small_room, 2 * STACK_BYTES);
#define SMALL_STACK (&small_room[STACK_BYTES / sizeof small_room[0]])

static struct mutex mutex;
static struct completion done;

/* 72 bytes of stack a call, and no loop. */
static __attribute__((noinline)) uint32_t go_deep(uint32_t depth)
{
    volatile uint32_t frame[16];

    for (uint32_t i = 0; i < 16; i++) {
        frame[i] = depth;
    }
    return depth ? go_deep(depth - 1) + frame[depth % 16] : 0;
}

static void overflow_stack(void *arg)
{
    (void)arg;
    (void)go_deep(16);
    thread_yield();
}

static void sleep_in_handler(void *arg)
{
    (void)arg;
    wait_for_completion(&done);
}

static void unlock(void *arg)
{
    (void)arg;
    mutex_unlock(&mutex);
}

static int program(void)
{
    struct timer timer;

    mutex_init(&mutex);
    completion_init(&done);
#if MISUSE_STACK
    thread_create(&small, "small", overflow_stack, 0, SMALL_STACK, STACK_BYTES, PRIORITY_MAIN);
#elif MISUSE_HANDLER
    timer_init(&timer, sleep_in_handler, 0);
    timer_start(&timer, 0);
#elif MISUSE_LOCK
    mutex_lock(&mutex);
    mutex_lock(&mutex);
#elif MISUSE_UNLOCK
    mutex_lock(&mutex);
    thread_create(&small, "small", unlock, 0, SMALL_STACK, STACK_BYTES, PRIORITY_MAIN);
#elif MISUSE_ENABLE
    enable_irq(irq_of_pin(3, 14));
#endif
    (void)timer;
    (void)small;
    (void)small_room;
    msleep(1);
    (void)overflow_stack;
    (void)sleep_in_handler;
    (void)unlock;
    return EXIT_OK;
}

int main(void)
{
    kernel_start(program);
}
