#include "transcript.h"

#include "arm_generic_timer.h"
#include "clock.h"
#include "console.h"

#define EVENTS 40u /* the report's eleven tests have 27 */

enum kind { STARTED, CONNECTED, FILLED, CREATING, ADDED, STARTING, ENDED };

static struct event {
    enum kind kind;
    uint64_t ticks;
    uint16_t crc;
    struct client_test test;
} events[EVENTS];
static uint32_t count;

static struct event *keep(enum kind kind)
{
    struct event *event = &events[count < EVENTS ? count++ : EVENTS - 1];

    event->kind = kind;
    event->ticks = clock_ticks();
    return event;
}

void transcript_started(void)
{
    keep(STARTED);
}

void transcript_connected(void)
{
    keep(CONNECTED);
}

void transcript_filled(uint16_t crc)
{
    keep(FILLED)->crc = crc;
}

void transcript_creating(void)
{
    keep(CREATING);
}

void transcript_added(const struct client_test *test)
{
    keep(ADDED)->test = *test;
}

void transcript_starting(void)
{
    keep(STARTING);
}

void transcript_ended(const struct client_test *test)
{
    keep(ENDED)->test = *test;
}

/* By the clock of the board, which is no clock of the day: it begins at 0. */
static void print_stamp(uint64_t ticks)
{
    uint32_t ms = (uint32_t)(clock_ns_of_ticks(ticks) / 1000000u);

    console_print("- %02u:%02u:%02u.%03u INFO: ", ms / 3600000u, ms / 60000u % 60u, ms / 1000u % 60u, ms % 1000u);
}

static void print_event(const struct event *event)
{
    const struct client_test *test = &event->test;

    print_stamp(event->ticks);
    switch (event->kind) {
    case STARTED: console_print("Application started\n"); break;
    case CONNECTED: console_print("Connected to /dev/ttyRPMSG0\n"); break;
    case FILLED: console_print("Initialized buffer with CRC16: 0x%04x\n", event->crc); break;
    case CREATING: console_print("---- Creating tests ----\n"); break;
    case ADDED: console_print("-> Add test: block=%u, blocks: %u\n", test->block_bytes, test->blocks); break;
    case STARTING: console_print("---- Starting tests ----\n"); break;
    case ENDED:
        console_print("-> b: %u, n:%u, nsec: %llu, bytes sent: %u\n", test->block_bytes, test->blocks,
            clock_ns_of_ticks(test->ticks), test->acknowledged);
        break;
    }
}

static void print_result(const struct client_test *test)
{
    console_print("{\"metric\":\"time\",\"block_bytes\":%u,\"blocks\":%u,\"unit\":\"ns\",\"value\":%llu}\n",
        test->block_bytes, test->blocks, clock_ns_of_ticks(test->ticks));
}

void transcript_print(void)
{
    for (uint32_t i = 0; i < count; i++) {
        print_event(&events[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == ENDED) {
            print_result(&events[i].test);
        }
    }
}
