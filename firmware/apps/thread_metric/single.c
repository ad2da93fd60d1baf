/* Tests of one thread that never waits: what the services themselves take. */
#include "tests.h"

static void single(void (*body)(void))
{
    window_check(service_create(0, TESTS_PRIORITY, body), "no memory for a thread");
    (void)service_resume(0);
}

/* Sends 16 bytes and receives them. */
static void send_and_receive(void)
{
    uint32_t sent[SERVICES_MESSAGE_WORDS] = {0x11112222, 0x33334444, 0x55556666, 0x77778888};
    uint32_t received[SERVICES_MESSAGE_WORDS];

    for (;;) {
        window_check(service_send(sent), "a message was not sent");
        window_check(service_receive(received), "a message was not received");
        window_check(received[SERVICES_MESSAGE_WORDS - 1] == sent[SERVICES_MESSAGE_WORDS - 1], "another message came");
        /* The next one is another. */
        sent[SERVICES_MESSAGE_WORDS - 1]++;
        window_counts[0]++;
    }
}

void test_message(void)
{
    window_check(service_make_queue(), "no memory for a queue");
    single(send_and_receive);
}

/* Gets a semaphore and puts it back. */
static void get_and_put(void)
{
    for (;;) {
        window_check(service_get(), "a semaphore was not to be had");
        window_check(service_put(), "a semaphore was not put");
        window_counts[0]++;
    }
}

void test_synchronization(void)
{
    window_check(service_make_semaphore(), "no semaphore");
    single(get_and_put);
}

/* Allocates 128 bytes and releases them. */
static void allocate_and_release(void)
{
    for (;;) {
        void *block;

        window_check(service_allocate(&block), "no block was to be had");
        window_check(service_release(block), "a block was not released");
        window_counts[0]++;
    }
}

void test_memory(void)
{
    single(allocate_and_release);
}
