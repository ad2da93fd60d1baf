/* The report's tests (published/stm32mp1_rpmsg_tty.toml): a client on the A7 writes blocks to ttyRPMSG0, the M4 logs
 * each message that it gets of them and acknowledges the last. */
#include "arm_generic_timer.h"
#include "client.h"
#include "clock.h"
#include "console.h"
#include "exit.h"
#include "stuck.h"
#include "transcript.h"
#include "tty_ports.h"

static const struct client_test report[] = {
    {512, 1, 0, 0}, {512, 2, 0, 0}, {512, 4, 0, 0}, {512, 8, 0, 0}, {1024, 1, 0, 0}, {1024, 2, 0, 0},
    {1024, 4, 0, 0}, {1024, 5, 0, 0}, {2048, 1, 0, 0}, {2048, 2, 0, 0}, {4096, 1, 0, 0},
};

static void linux_wakes_reader(struct tty *tty)
{
    (void)tty;
    if (APP_LINUX_DELAY_US) {
        clock_sleep_us(APP_LINUX_DELAY_US);
    }
}

/* The M4 logs its boot while the A7 would begin already; the report's client was started by hand, later. */
static bool start_link(void)
{
    if (!tty_ports_start(APP_BUFFER_BYTES)) {
        return false;
    }
    tty_ports[0].woken = linux_wakes_reader;
#if APP_OVERFLOW_ORIGINAL
    tty_ports[0].stuck = stuck;
#endif
    return true;
}

static bool test(uint32_t block_bytes, uint32_t blocks)
{
    struct client_test test = {.block_bytes = block_bytes, .blocks = blocks};
    uint32_t bytes = block_bytes * blocks;
    int error = run_test(&tty_ports[0], &test);

    if (error) {
        console_print("tty-test-client: b: %u, n: %u: %s\n", block_bytes, blocks,
            error < 0 ? "the write failed" : "no acknowledgement within the read's time");
        return false;
    }
    if (test.acknowledged != bytes) {
        console_print("tty-test-client: b: %u, n: %u: %u bytes sent, %u acknowledged\n", block_bytes, blocks, bytes,
            test.acknowledged);
        return false;
    }
#if APP_TRANSCRIPT_ON
    transcript_ended(&test);
#else
    console_print("{\"metric\":\"time\",\"block_bytes\":%u,\"blocks\":%u,\"unit\":\"ns\",\"value\":%llu}\n",
        block_bytes, blocks, clock_ns_of_ticks(test.ticks));
#endif
    return true;
}

static bool run_tests(void)
{
#if APP_TESTS_ONE
    (void)report;
    if (APP_BLOCK_BYTES * APP_BLOCKS > UINT16_MAX || APP_BLOCK_BYTES + APP_BLOCKS - 1 > CLIENT_BUFFER_BYTES) {
        console_print("tty-test-client: %u times %u bytes: the length has 16 bits\n", APP_BLOCKS, APP_BLOCK_BYTES);
        return false;
    }
    return test(APP_BLOCK_BYTES, APP_BLOCKS);
#else
    for (uint32_t i = 0; i < sizeof report / sizeof report[0]; i++) {
        if (!test(report[i].block_bytes, report[i].blocks)) {
            return false;
        }
    }
    return true;
#endif
}

#if APP_TRANSCRIPT_ON
/* The client's output before its tests; it is started by hand when the link has long been up. */
static void prepare(void)
{
    transcript_started();
    transcript_connected();
    transcript_filled(client_start());
    transcript_creating();
#if APP_TESTS_ONE
    transcript_added(&(struct client_test){.block_bytes = APP_BLOCK_BYTES, .blocks = APP_BLOCKS});
#else
    for (uint32_t i = 0; i < sizeof report / sizeof report[0]; i++) {
        transcript_added(&report[i]);
    }
#endif
    transcript_starting();
}

int main(void)
{
    if (!start_link()) {
        return EXIT_FAILED;
    }
    prepare();
    bool passed = run_tests();
    transcript_print();
    return passed ? EXIT_OK : EXIT_FAILED;
}
#else
int main(void)
{
    if (!start_link()) {
        return EXIT_FAILED;
    }
    console_print("tty-test-client: buffer with CRC16 0x%04x\n", client_start());
    return run_tests() ? EXIT_OK : EXIT_FAILED;
}
#endif
