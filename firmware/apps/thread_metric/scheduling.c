/* Tests whose threads do nothing but give the core to each other; and the one that does not even do that. */
#include "tests.h"

/* One thread; what it takes is the core's own speed, to which others compare the rest. */
static void count_only(void)
{
    for (;;) {
        window_counts[0]++;
    }
}

void test_basic(void)
{
    window_check(service_create(0, TESTS_PRIORITY, count_only), "no memory for a thread");
    (void)service_resume(0);
}

/* Five threads of one priority: each counts and lets the next one run. */
#define RELINQUISHING(thread)                  \
    static void relinquish_##thread(void)      \
    {                                          \
        for (;;) {                             \
            window_counts[thread]++;           \
            service_relinquish();              \
        }                                      \
    }
RELINQUISHING(0)
RELINQUISHING(1)
RELINQUISHING(2)
RELINQUISHING(3)
RELINQUISHING(4)

void test_cooperative(void)
{
    static void (*const bodies[SERVICES_THREADS])(void) = {relinquish_0, relinquish_1, relinquish_2, relinquish_3,
                                                           relinquish_4};

    for (int thread = 0; thread < SERVICES_THREADS; thread++) {
        window_check(service_create(thread, TESTS_PRIORITY, bodies[thread]), "no memory for a thread");
    }
    for (int thread = 0; thread < SERVICES_THREADS; thread++) {
        (void)service_resume(thread);
    }
}

/* Five threads of different priorities: each resumes the next higher one, which runs at once; when that has suspended
 * itself, it counts and suspends itself, too. The lowest continues without. */
static void resume_first(void)
{
    for (;;) {
        window_check(service_resume(1), "a thread was not resumed");
        window_counts[0]++;
    }
}

#define RESUMING(thread)                                                              \
    static void resume_##thread(void)                                                 \
    {                                                                                 \
        for (;;) {                                                                    \
            window_check(service_resume((thread) + 1), "a thread was not resumed");   \
            window_counts[thread]++;                                                  \
            window_check(service_suspend(thread), "a thread was not suspended");      \
        }                                                                             \
    }
RESUMING(1)
RESUMING(2)
RESUMING(3)

static void suspend_last(void)
{
    for (;;) {
        window_counts[4]++;
        window_check(service_suspend(4), "a thread was not suspended");
    }
}

void test_preemptive(void)
{
    static void (*const bodies[SERVICES_THREADS])(void) = {resume_first, resume_1, resume_2, resume_3, suspend_last};

    for (int thread = 0; thread < SERVICES_THREADS; thread++) {
        window_check(service_create(thread, TESTS_PRIORITY - thread, bodies[thread]), "no memory for a thread");
    }
    (void)service_resume(0);
}
