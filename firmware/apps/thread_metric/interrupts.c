/* Tests of interrupts, which the thread causes itself. */
#include "tests.h"

/* The handler puts a semaphore, which the thread gets when the interrupt is over. */
static void put(void)
{
    window_interrupts++;
    service_put_from_handler();
}

static void interrupt_and_get(void)
{
    for (;;) {
        service_cause_interrupt();
        window_check(service_get(), "no semaphore after the interrupt");
        window_counts[0]++;
    }
}

void test_interrupt(void)
{
    window_check(service_make_semaphore() && service_get(), "no semaphore");
    window_check(service_create(0, TESTS_PRIORITY, interrupt_and_get), "no memory for a thread");
    service_set_handler(put);
    (void)service_resume(0);
}

/* The handler resumes a thread of a higher priority, which counts and suspends itself; then the first one continues. */
static void resume_higher(void)
{
    window_interrupts++;
    service_resume_from_handler(1);
}

static void interrupt_only(void)
{
    for (;;) {
        service_cause_interrupt();
        window_counts[0]++;
    }
}

static void suspend_higher(void)
{
    for (;;) {
        window_counts[1]++;
        window_check(service_suspend(1), "a thread was not suspended");
    }
}

void test_interrupt_preemption(void)
{
    window_check(service_create(0, TESTS_PRIORITY, interrupt_only), "no memory for a thread");
    window_check(service_create(1, TESTS_PRIORITY - 1, suspend_higher), "no memory for a thread");
    service_set_handler(resume_higher);
    (void)service_resume(0);
}
