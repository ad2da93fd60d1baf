#include "load.h"

#include "jz4740_tcu.h"
#include "kernel.h"
#include "spinlock.h"

#define STACK_BYTES 1024

/* The thread's own round takes two or three ticks: what is longer was someone else's, but for a round. */
#define ROUND_TICKS 3u

static struct thread thread;
THREAD_STACK(stack, STACK_BYTES);

static uint16_t last;
static uint64_t busy_ticks;

static void account(void)
{
    uint32_t before = irq_save();
    uint16_t now = tcu_stamp();
    uint16_t gap = (uint16_t)(now - last);

    if (gap > ROUND_TICKS) {
        busy_ticks += gap - ROUND_TICKS;
    }
    last = now;
    irq_restore(before);
}

static void watch(void *arg)
{
    (void)arg;
    for (;;) {
        account();
    }
}

void load_start(void)
{
    last = tcu_stamp();
    thread_create(&thread, "load", watch, 0, stack, sizeof stack, PRIORITY_LOWEST);
}

uint64_t load_busy_ticks(void)
{
    account();
    return busy_ticks;
}
