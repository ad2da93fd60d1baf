/* What the wire still carries: how many answers are right in each SPI mode that the stack has, at clocks below and
   above the transceiver's greatest. Wrong answers are results here, no errors. */
#include "at86rf230_registers.h"
#include "clock.h"
#include "console.h"
#include "exit.h"
#include "operations.h"
#include "stopwatch.h"

#define MODES 4u
#define PATTERN_BYTES 16u
#define READ_BYTES 120u

/* The transceiver allows 7.5 MHz (data sheet, Digital Interface Timing Characteristics). */
static const uint32_t clocks_hz[] = {1000000, 2000000, 4000000, 7500000, 14000000, 28000000, 56000000};
#define CLOCKS (sizeof clocks_hz / sizeof clocks_hz[0])

static uint8_t written[PATTERN_BYTES];
static uint8_t readout[AT86RF230_FRAME_BYTES + 1];

/* Another one each time, so that what is left in the buffer is no right answer. */
static void make_pattern(void)
{
    static uint32_t state = 1;

    for (uint32_t i = 0; i < PATTERN_BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        written[i] = (uint8_t)(state >> 24);
    }
}

static int answers(struct at86rf230 *chip, uint8_t address, uint8_t value, bool *right)
{
    uint8_t answer;
    int error = at86rf230_read_register(chip, address, &answer);

    if (!error) {
        *right &= answer == value;
    }
    return error;
}

static int answers_all(struct at86rf230 *chip, bool *right)
{
    uint8_t length = 0, lqi;

    *right = true;
    int error = answers(chip, PART_NUM, PART_NUM_AT86RF231, right);
    if (!error) {
        error = answers(chip, MAN_ID_0, MAN_ID_0_ATMEL, right);
    }
    if (!error) {
        error = answers(chip, MAN_ID_1, MAN_ID_1_ATMEL, right);
    }
    make_pattern();
    if (!error) {
        error = at86rf230_write_buffer(chip, PATTERN_BYTES, written, PATTERN_BYTES);
    }
    if (!error) {
        error = at86rf230_read_buffer(chip, readout, &length, &lqi);
    }
    *right &= length == PATTERN_BYTES;
    for (uint32_t i = 0; i < PATTERN_BYTES; i++) {
        *right &= readout[i] == written[i];
    }
    return error;
}

/* Time of one message for the whole buffer, whatever comes: where lengths are read wrong, too. */
static int time_message(struct at86rf230 *chip, uint64_t *each_ns)
{
    uint64_t start = clock_ticks();
    int error = 0;

    for (uint32_t loops = APP_LOOPS; loops && !error; loops--) {
        uint8_t command[2] = {COMMAND_FRAME_BUFFER, 0};
        struct spi_transfer head = {.len = sizeof command, .tx_buf = command};
        struct spi_transfer body = {.len = READ_BYTES, .rx_buf = readout};
        struct spi_message message;

        spi_message_init(&message);
        spi_message_add_tail(&head, &message);
        spi_message_add_tail(&body, &message);
        error = spi_sync(chip->spi, &message);
    }
    *each_ns = nanoseconds_each(clock_ticks() - start, APP_LOOPS);
    return error;
}

static int print_rate(struct at86rf230 *chip)
{
    uint64_t each_ns;
    int error = time_message(chip, &each_ns);

    if (!error) {
        console_print("{\"metric\":\"rate_at_clock\",\"sck_khz\":%u,\"unit\":\"kbps\",\"value\":%u}\n",
            chip->spi->sck_hz / 1000u, (uint32_t)(8u * READ_BYTES * 1000000u / each_ns));
    }
    return error;
}

/* With the mode and the clock that are set. Earlier errors have no effect on it: the transceiver is reset. */
static int measure_setting(struct at86rf230 *chip)
{
    uint32_t right_answers = 0;

    at86rf230_reset(chip);
    for (uint32_t loops = APP_LOOPS; loops; loops--) {
        bool right;
        int error = answers_all(chip, &right);
        if (error) {
            return error;
        }
        right_answers += right;
    }
    uint32_t tenths = (uint32_t)((uint64_t)right_answers * 1000u / APP_LOOPS);
    console_print("{\"metric\":\"right_answers\",\"spi_mode\":%u,\"sck_khz\":%u,\"unit\":\"%%\",\"value\":%u.%u}\n",
        chip->spi->mode, chip->spi->sck_hz / 1000u, tenths / 10, tenths % 10);
    return chip->spi->mode == SPI_MODE_0 && chip->spi->sck_hz ? print_rate(chip) : 0;
}

/* One clock is enough of a master that does not know its own: it is as fast as software, whatever is asked for. */
static int measure_mode(struct at86rf230 *chip)
{
    struct spi_device *spi = chip->spi;

    for (uint32_t n = 0; n < CLOCKS; n++) {
        spi->max_speed_hz = clocks_hz[n];
        int error = spi_setup(spi);
        if (!error) {
            error = measure_setting(chip);
        }
        if (error || !spi->sck_hz) {
            return error;
        }
    }
    return 0;
}

int measure_limits(struct at86rf230 *chip)
{
    for (uint16_t mode = 0; mode < MODES; mode++) {
        if (mode & ~chip->spi->master->mode_bits) {
            continue;
        }
        chip->spi->mode = mode;
        int error = measure_mode(chip);
        if (error) {
            return fail("limits", error);
        }
    }
    return EXIT_OK;
}
