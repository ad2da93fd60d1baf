/* The report's client (published/stm32mp1_rpmsg_tty.toml) as a program for Linux: it writes blocks to a tty whose other
 * end is the M4, and reads how many bytes came. It prints the report's lines while it runs, the results after it. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "packet.h"

#define BUFFER_BYTES 32768u
/* A read gives up after as many tenths of a second without a byte. */
#define READ_LIMIT_TENTHS 10

struct test {
    unsigned block_bytes, blocks;
    long long ns;           /* result */
    unsigned acknowledged;  /* result: bytes, as the M4 says it */
};

static struct test tests[] = {
    {512, 1, 0, 0}, {512, 2, 0, 0}, {512, 4, 0, 0}, {512, 8, 0, 0}, {1024, 1, 0, 0}, {1024, 2, 0, 0},
    {1024, 4, 0, 0}, {1024, 5, 0, 0}, {2048, 1, 0, 0}, {2048, 2, 0, 0}, {4096, 1, 0, 0},
};
#define TESTS (sizeof tests / sizeof tests[0])

static uint8_t tx_buffer[BUFFER_BYTES] __attribute__((aligned(4)));

static void print_stamp(void)
{
    struct timeval now;
    struct tm day;

    gettimeofday(&now, NULL);
    localtime_r(&now.tv_sec, &day);
    printf("- %02d:%02d:%02d.%03d INFO: ", day.tm_hour, day.tm_min, day.tm_sec, (int)(now.tv_usec / 1000));
}

/* The tty, which passes bytes on as they are; or -1. */
static int open_tty(const char *path)
{
    int tty = open(path, O_RDWR | O_NOCTTY | O_SYNC);
    struct termios settings;

    if (tty < 0 || tcgetattr(tty, &settings) != 0) {
        return -1;
    }
    cfmakeraw(&settings);
    cfsetspeed(&settings, B115200);
    settings.c_cc[VMIN] = 0;
    settings.c_cc[VTIME] = READ_LIMIT_TENTHS;
    return tcsetattr(tty, TCSANOW, &settings) == 0 ? tty : -1;
}

static bool write_all(int tty, const uint8_t *data, size_t bytes)
{
    while (bytes) {
        ssize_t written = write(tty, data, bytes);

        if (written < 0) {
            return false;
        }
        data += written;
        bytes -= (size_t)written;
    }
    return true;
}

static bool send_blocks(int tty, const struct test *test)
{
    for (unsigned i = 0; i < test->blocks; i++) {
        /* Each block begins a byte later than the one before it, as the report's. */
        if (!write_all(tty, &tx_buffer[i], test->block_bytes)) {
            return false;
        }
    }
    return true;
}

static bool read_acknowledgement(int tty, struct test *test)
{
    uint8_t answer[2];
    size_t bytes = 0;

    while (bytes < sizeof answer) {
        ssize_t more = read(tty, &answer[bytes], sizeof answer - bytes);

        if (more <= 0) {
            errno = more == 0 ? ETIMEDOUT : errno;
            return false;
        }
        bytes += (size_t)more;
    }
    test->acknowledged = answer[0] | (unsigned)answer[1] << 8;
    return true;
}

static long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) static bool run_test(int tty, struct test *test)
{
    struct packet *header = (struct packet *)(void *)tx_buffer;
    long long start = now_ns();

    header->preamble = PACKET_PREAMBLE;
    header->length = (uint16_t)(test->block_bytes * test->blocks);
    header->crc16 = crc16(&tx_buffer[PACKET_CRC_OFFSET], header->length);
    if (!send_blocks(tty, test) || !read_acknowledgement(tty, test)) {
        return false;
    }
    test->ns = now_ns() - start;
    return true;
}

static uint16_t fill_buffer(void)
{
    for (unsigned i = 0; i < BUFFER_BYTES; i++) {
        tx_buffer[i] = (uint8_t)i;
    }
    return crc16(tx_buffer, BUFFER_BYTES);
}

static void print_tests(void)
{
    print_stamp();
    printf("---- Creating tests ----\n");
    for (size_t i = 0; i < TESTS; i++) {
        print_stamp();
        printf("-> Add test: block=%u, blocks: %u\n", tests[i].block_bytes, tests[i].blocks);
    }
    print_stamp();
    printf("---- Starting tests ----\n");
}

static bool run_tests(int tty)
{
    for (size_t i = 0; i < TESTS; i++) {
        struct test *test = &tests[i];

        if (!run_test(tty, test)) {
            printf("tty-test-client: b: %u, n: %u: %s\n", test->block_bytes, test->blocks, strerror(errno));
            return false;
        }
        print_stamp();
        printf("-> b: %u, n:%u, nsec: %lld, bytes sent: %u\n", test->block_bytes, test->blocks, test->ns,
            test->acknowledged);
    }
    return true;
}

static bool print_results(void)
{
    bool all = true;

    for (size_t i = 0; i < TESTS; i++) {
        const struct test *test = &tests[i];

        all = all && test->acknowledged == test->block_bytes * test->blocks;
        printf("{\"metric\":\"time\",\"block_bytes\":%u,\"blocks\":%u,\"unit\":\"ns\",\"value\":%lld}\n",
            test->block_bytes, test->blocks, test->ns);
    }
    return all;
}

int main(int count, char **arguments)
{
    const char *path = count > 1 ? arguments[1] : "/dev/ttyRPMSG0";
    int tty;

    print_stamp();
    printf("Application started\n");
    tty = open_tty(path);
    if (tty < 0) {
        printf("tty-test-client: %s: %s\n", path, strerror(errno));
        return 1;
    }
    print_stamp();
    printf("Connected to %s\n", path);
    uint16_t crc = fill_buffer();
    print_stamp();
    printf("Initialized buffer with CRC16: 0x%04x\n", crc);
    print_tests();
    return run_tests(tty) && print_results() ? 0 : 1;
}
