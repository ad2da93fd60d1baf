/* Access to a file through FatFs: sequential or random, reading or writing. The file holds the bytes of a linear
 * congruential generator; writes store the same bytes again, so that it does not change, and reads can be checked. */
#include "altera_timer.h"
#include "board.h"
#include "console.h"
#include "drive.h"
#include "exit.h"
#include "result.h"
#include "riscv.h"
#include "section.h"
#include "string.h"

#define BLOCK_MIN_BYTES 512u
#define BLOCK_MAX_BYTES 65536u

#define FILE_NAME "ACCESS.BIN"

_Static_assert(APP_FILE_BYTES % BLOCK_MAX_BYTES == 0, "the file holds whole blocks of any size");

static uint8_t data[APP_FILE_BYTES];
#if APP_OPERATION_READ
static uint8_t received[BLOCK_MAX_BYTES];
#endif

struct times {
    uint64_t sum_clocks; /* of all calls and the final sync */
    uint64_t calls_clocks;
    uint64_t max_clocks;
    uint32_t calls;
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void fill_data(void)
{
    uint32_t state = 1;

    for (uint32_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(next_random(&state) >> 16);
    }
}

#if APP_ACCESS_RANDOM
static uint32_t next_offset(uint32_t block, uint32_t call, uint32_t *state)
{
    (void)call;
    return next_random(state) % (APP_FILE_BYTES / block) * block;
}
#else
static uint32_t next_offset(uint32_t block, uint32_t call, uint32_t *state)
{
    (void)state;
    return call * block;
}
#endif

/* The timed part. FR_INT_ERR, FatFs's assertion failure, if the count is not the requested one. */
static SECTION FRESULT access_block(FIL *file, uint32_t offset, uint32_t block)
{
    UINT count;
    FRESULT result = f_lseek(file, offset);

    if (result == FR_OK) {
#if APP_OPERATION_READ
        result = f_read(file, received, block, &count);
#else
        result = f_write(file, data + offset, block, &count);
#endif
    }
    return result == FR_OK && count != block ? FR_INT_ERR : result;
}

static bool is_right(uint32_t offset, uint32_t block)
{
#if APP_OPERATION_READ
    return !memcmp(received, data + offset, block);
#else
    (void)offset;
    (void)block;
    return true;
#endif
}

static FRESULT access_file(FIL *file, uint32_t block, struct times *times)
{
    uint32_t state = block;

    *times = (struct times){0};
    while (times->calls < APP_CALLS && times->calls < APP_FILE_BYTES / block) {
        uint32_t offset = next_offset(block, times->calls, &state);
        uint64_t start = riscv_cycles();
        FRESULT result = access_block(file, offset, block);
        uint64_t clocks = riscv_cycles() - start;

        if (result != FR_OK) {
            return result;
        }
        if (!is_right(offset, block)) {
            console_print("wrong data in %u bytes at %u\n", block, offset);
            return FR_INT_ERR;
        }
        times->calls++;
        times->calls_clocks += clocks;
        times->max_clocks = clocks > times->max_clocks ? clocks : times->max_clocks;
    }
    uint64_t start = riscv_cycles();
    FRESULT result = f_sync(file);
    times->sum_clocks = times->calls_clocks + (riscv_cycles() - start);
    return result;
}

static uint64_t microseconds(uint64_t clocks)
{
    return (clocks * 1000000u + BOARD_CLOCK_HZ / 2) / BOARD_CLOCK_HZ;
}

static void print_results(int32_t block, const struct times *times)
{
    uint64_t bytes = (uint64_t)times->calls * (uint32_t)block;

    result_number_at("calls", "block", block, "calls", times->calls);
    result_number_at("throughput", "block", block, "B/s", bytes * BOARD_CLOCK_HZ / times->sum_clocks);
    result_number_at("call_mean", "block", block, "us", microseconds(times->calls_clocks / times->calls));
    result_number_at("call_max", "block", block, "us", microseconds(times->max_clocks));
}

static int fail(const char *step, FRESULT result)
{
    console_print("%s: ", step);
    disk_print_result(result);
    disk_print_card_error(DRIVE);
    console_print("\n");
    return EXIT_FAILED;
}

static FRESULT make_file(FIL *file)
{
    UINT count;
    FRESULT result = f_open(file, DRIVE_NAME FILE_NAME, FA_READ | FA_WRITE | FA_CREATE_ALWAYS);

    if (result == FR_OK) {
        result = f_write(file, data, APP_FILE_BYTES, &count);
    }
    if (result == FR_OK && count != APP_FILE_BYTES) {
        console_print("disk full\n");
        result = FR_DENIED;
    }
    return result == FR_OK ? f_sync(file) : result;
}

int main(void)
{
    static FATFS volume;
    static FIL file;

    tick_start();
    fill_data();
    FRESULT result = f_mount(&volume, DRIVE_NAME, 1);
    if (result != FR_OK) {
        return fail("f_mount card", result);
    }
    result = make_file(&file);
    if (result != FR_OK) {
        return fail("make " FILE_NAME, result);
    }
    for (uint32_t block = BLOCK_MIN_BYTES; block <= BLOCK_MAX_BYTES; block *= 2) {
        struct times times;

        result = access_file(&file, block, &times);
        if (result != FR_OK) {
            return fail("access " FILE_NAME, result);
        }
        print_results((int32_t)block, &times);
    }
    result = f_close(&file);
    return result == FR_OK ? EXIT_OK : fail("f_close " FILE_NAME, result);
}
