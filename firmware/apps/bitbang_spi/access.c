/* Times of the report's six accesses: each made many times, its code and data in the caches. */
#include "clock.h"
#include "exit.h"
#include "operations.h"
#include "result.h"
#include "stopwatch.h"

/* The report's registers, as it prints them; the driver takes the lower six bits. */
#define READ_FROM 0x51
#define WRITE_TO 0x15
#define WRITTEN 0x0A

#define BUFFER_BYTE 0x33

static uint8_t buffer[AT86RF230_FRAME_BYTES + 1];

/* The report's lengths are the first and the last; the others show that the times lie on a line. */
#if APP_REPORT_ALL
static const uint8_t lengths[] = {1, 16, 64, 120};
#else
static const uint8_t lengths[] = {1, 120};
#endif
#define LENGTHS (sizeof lengths / sizeof lengths[0])

/* Of buffer accesses of each length, in nanoseconds. */
static uint64_t write_ns[LENGTHS], read_ns[LENGTHS];

static int read_register(struct at86rf230 *chip, uint8_t bytes)
{
    uint8_t value;

    (void)bytes;
    return at86rf230_read_register(chip, READ_FROM, &value);
}

static int write_register(struct at86rf230 *chip, uint8_t bytes)
{
    (void)bytes;
    return at86rf230_write_register(chip, WRITE_TO, WRITTEN);
}

/* As many bytes as the write before has put there. */
static int read_buffer(struct at86rf230 *chip, uint8_t bytes)
{
    uint8_t length, lqi;

    (void)bytes;
    return at86rf230_read_buffer(chip, buffer, &length, &lqi);
}

static int write_buffer(struct at86rf230 *chip, uint8_t bytes)
{
    return at86rf230_write_buffer(chip, bytes, buffer, bytes);
}

typedef int access_function(struct at86rf230 *chip, uint8_t bytes);

static int measure(
    struct at86rf230 *chip, const char *metric, access_function *access, uint8_t bytes, uint64_t *each_ns)
{
    int error = access(chip, bytes);
    uint64_t start = clock_ticks();

    for (uint32_t loops = APP_LOOPS; loops && !error; loops--) {
        error = access(chip, bytes);
    }
    uint64_t ticks = clock_ticks() - start;
    if (error) {
        return fail(metric, error);
    }
    *each_ns = nanoseconds_each(ticks, APP_LOOPS);
    result_us_at(metric, "data_bytes", bytes, *each_ns);
    return EXIT_OK;
}

static int measure_buffer(struct at86rf230 *chip, uint32_t n)
{
    for (uint32_t i = 0; i < sizeof buffer; i++) {
        buffer[i] = BUFFER_BYTE;
    }
    int status = measure(chip, "write_buffer_time", write_buffer, lengths[n], &write_ns[n]);
    return status == EXIT_OK ? measure(chip, "read_buffer_time", read_buffer, lengths[n], &read_ns[n]) : status;
}

/* The report's formula: what a buffer access of any length would come to. Bits a nanosecond are millions of kbps. */
static void report_rate(const char *metric, const uint64_t *each_ns)
{
    uint64_t bits = 8u * (uint32_t)(lengths[LENGTHS - 1] - lengths[0]);

    result_number(metric, "kbps", bits * 1000000u / (each_ns[LENGTHS - 1] - each_ns[0]));
}

int measure_access(struct at86rf230 *chip)
{
    int error = at86rf230_stop(chip);
    if (error) {
        return fail("stop", error);
    }
    uint64_t unused_ns;
    int status = measure(chip, "read_register_time", read_register, 1, &unused_ns);
    if (status == EXIT_OK) {
        status = measure(chip, "write_register_time", write_register, 1, &unused_ns);
    }
    for (uint32_t n = 0; n < LENGTHS && status == EXIT_OK; n++) {
        status = measure_buffer(chip, n);
    }
    if (status == EXIT_OK) {
        report_rate("read_buffer_rate", read_ns);
        report_rate("write_buffer_rate", write_ns);
    }
    return status;
}
