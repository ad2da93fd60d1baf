/* The report's tests (published/stm32mp1_rpmsg_tty.toml): a client on the A7 writes blocks to ttyRPMSG0, the M4 logs each message that it gets of
 * them and acknowledges the last. */
#include "arm_generic_timer.h"
#include "client.h"
#include "clock.h"
#include "console.h"
#include "exit.h"
#include "stm32_rproc.h"
#include "string.h"
#include "stuck.h"
#include "tty.h"

#define PORTS 2u
#define BOOT_LIMIT_US 1000000u

static struct tty ports[PORTS];
static volatile uint32_t found;

static const struct client_test report[] = {
    {512, 1, 0, 0}, {512, 2, 0, 0}, {512, 4, 0, 0}, {512, 8, 0, 0}, {1024, 1, 0, 0}, {1024, 2, 0, 0},
    {1024, 4, 0, 0}, {1024, 5, 0, 0}, {2048, 1, 0, 0}, {2048, 2, 0, 0}, {4096, 1, 0, 0},
};

/* A channel of the M4's: the driver takes the first two ttys. */
static struct rpmsg_endpoint *channel(void *context, const char *name, uint32_t addr)
{
    struct rpmsg_endpoint *endpoint;

    (void)context;
    console_print("rpmsg: creating channel %s addr 0x%x\n", name, addr);
    if (found == PORTS || memcmp(name, TTY_CHANNEL, sizeof TTY_CHANNEL) != 0) {
        return NULL;
    }
    endpoint = tty_probe(&ports[found], &stm32_rproc_host);
    found = found + 1;
    return endpoint;
}

static void linux_wakes_reader(struct tty *tty)
{
    (void)tty;
    if (APP_LINUX_DELAY_US) {
        clock_sleep_us(APP_LINUX_DELAY_US);
    }
}

static bool wait_for_ports(void)
{
    uint64_t until = clock_ticks() + clock_ticks_of_us(BOOT_LIMIT_US);

    while (found < PORTS && clock_ticks() < until) {
        uint32_t seen = stm32_rproc_events();

        if (found < PORTS) {
            stm32_rproc_sleep(seen, until);
        }
    }
    return found == PORTS;
}

/* The M4 logs its boot while the A7 would begin already; the report's client was started by hand, later. */
static bool start_link(void)
{
    if (!stm32_rproc_boot(APP_BUFFER_BYTES, channel)) {
        return false;
    }
    if (!wait_for_ports()) {
        console_print("rpmsg: %u of %u channels within %u us\n", found, PORTS, BOOT_LIMIT_US);
        return false;
    }
    for (uint32_t i = 0; i < PORTS; i++) {
        console_print("rpmsg_tty: new channel: 0x%x -> 0x%x : ttyRPMSG%u\n", ports[i].endpoint.addr, ports[i].endpoint.dest, i);
    }
    ports[0].woken = linux_wakes_reader;
#if APP_OVERFLOW_ORIGINAL
    ports[0].stuck = stuck;
#endif
    return true;
}

static bool test(uint32_t block_bytes, uint32_t blocks)
{
    struct client_test test = {.block_bytes = block_bytes, .blocks = blocks};
    uint32_t bytes = block_bytes * blocks;
    int error = run_test(&ports[0], &test);

    if (error) {
        console_print("tty-test-client: b: %u, n: %u: %s\n", block_bytes, blocks,
            error < 0 ? "the write failed" : "no acknowledgement within the read's time");
        return false;
    }
    if (test.acknowledged != bytes) {
        console_print("tty-test-client: b: %u, n: %u: %u bytes sent, %u acknowledged\n", block_bytes, blocks, bytes, test.acknowledged);
        return false;
    }
    console_print("{\"metric\":\"time\",\"block_bytes\":%u,\"blocks\":%u,\"unit\":\"ns\",\"value\":%llu}\n", block_bytes, blocks,
        clock_ns_of_ticks(test.ticks));
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

int main(void)
{
    if (!start_link()) {
        return EXIT_FAILED;
    }
    console_print("tty-test-client: buffer with CRC16 0x%04x\n", client_start());
    return run_tests() ? EXIT_OK : EXIT_FAILED;
}
