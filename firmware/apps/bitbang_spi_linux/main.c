/* Times of accesses to an AT86RF231 through spidev: registers and frame buffer, as in the report on its drivers
 * (published/atben_spi_drivers.toml). */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/spi/spidev.h>

/* Atmel 8111, table 6-1: the first byte of an access. */
#define READ_REGISTER 0x80u
#define WRITE_REGISTER 0xC0u
#define READ_BUFFER 0x20u
#define WRITE_BUFFER 0x60u

#define PART_NUM 0x1Cu
#define PART_NUM_AT86RF231 3u
#define CSMA_SEED_0 0x2Du

#define MOST_BYTES 127u
#define REPETITIONS 16u
/* Code and data of the first accesses are in no cache. */
#define UNTIMED 4u

struct access {
    const char *operation;
    unsigned data_bytes;
    uint8_t command[2];
    unsigned sent_bytes; /* with those of the command */
};

/* A buffer read has PHR, data, LQI. */
static const struct access accesses[] = {
    {"read-register", 1, {READ_REGISTER | PART_NUM}, 2},
    {"write-register", 1, {WRITE_REGISTER | CSMA_SEED_0, 0x33}, 2},
    {"write-buffer", 1, {WRITE_BUFFER, 1}, 3},
    {"write-buffer", 120, {WRITE_BUFFER, 120}, 122},
    {"read-buffer", 1, {READ_BUFFER}, 4},
    {"read-buffer", 120, {READ_BUFFER}, 123},
};

static uint8_t sent[MOST_BYTES + 3], received[MOST_BYTES + 3];

static bool transfer(int device, const struct access *access)
{
    struct spi_ioc_transfer one;

    memset(&one, 0, sizeof one);
    memcpy(sent, access->command, sizeof access->command);
    one.tx_buf = (uintptr_t)sent;
    one.rx_buf = (uintptr_t)received;
    one.len = access->sent_bytes;
    return ioctl(device, SPI_IOC_MESSAGE(1), &one) >= 0;
}

static long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* One access, without those before it. */
__attribute__((noinline)) static bool timed_access(int device, const struct access *access, long long *ns)
{
    long long begun = now_ns();

    if (!transfer(device, access)) {
        return false;
    }
    *ns = now_ns() - begun;
    return true;
}

static bool measure(int device, const struct access *access)
{
    long long sum_ns = 0, ns = 0;

    for (unsigned i = 0; i < UNTIMED + REPETITIONS; i++) {
        if (!timed_access(device, access, &ns)) {
            return false;
        }
        sum_ns += i < UNTIMED ? 0 : ns;
    }
    printf("{\"metric\":\"access_time\",\"operation\":\"%s\",\"data_bytes\":%u,\"unit\":\"us\",\"value\":%.2f}\n",
        access->operation, access->data_bytes, (double)sum_ns / REPETITIONS / 1e3);
    return true;
}

static int fail(const char *what)
{
    printf("spi-access-times: %s: %s\n", what, strerror(errno));
    return 1;
}

int main(int count, char **arguments)
{
    const char *path = count > 1 ? arguments[1] : "/dev/spidev0.0";
    uint32_t speed_hz = 7500000; /* the chip's limit */
    int device = open(path, O_RDWR);

    memset(sent, 0x33, sizeof sent);
    if (device < 0 || ioctl(device, SPI_IOC_WR_MAX_SPEED_HZ, &speed_hz) < 0) {
        return fail(path);
    }
    if (!transfer(device, &accesses[0])) {
        return fail("a transfer");
    }
    if (received[1] != PART_NUM_AT86RF231) {
        printf("spi-access-times: PART_NUM is 0x%02x, not that of an AT86RF231\n", received[1]);
        return 1;
    }
    for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++) {
        if (!measure(device, &accesses[i])) {
            return fail(accesses[i].operation);
        }
    }
    return 0;
}
