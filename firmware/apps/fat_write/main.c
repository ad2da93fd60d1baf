/* The f_write benchmark of a report (published/fatfs_write_nios2.toml): for each size of a call, delete a file, create
 * it, write it from memory and time that, wait, close it. The file's bytes are those of a linear congruential
 * generator, so that they can be checked on another machine. */
#include "altera_performance_counter.h"
#include "altera_timer.h"
#include "board.h"
#include "console.h"
#include "drive.h"
#include "exit.h"
#include "result.h"
#include "section.h"
#include "sizes.h"
#include "write_order.h"

#define SECTION_TOTAL 1

#define PATH_BYTES sizeof DRIVE_NAME "W65536.BIN"
/* The path without its drive, for people. */
#define NAME(path) ((path) + sizeof DRIVE_NAME - 1)

static uint8_t data[APP_FILE_BYTES + SIZE_MAX_BYTES];

static void fill_data(void)
{
    uint32_t x = 1;

    for (uint32_t i = 0; i < sizeof data; i++) {
        x = x * 1664525u + 1013904223u;
        data[i] = (uint8_t)(x >> 24);
    }
}

#if APP_FILES_EACH
static char *append(char *to, const char *text)
{
    while (*text) {
        *to++ = *text++;
    }
    return to;
}

static void make_path(char *path, uint32_t size)
{
    char digits[5];
    int count = 0;

    for (; size; size /= 10) {
        digits[count++] = (char)('0' + size % 10);
    }
    path = append(path, DRIVE_NAME "W");
    while (count) {
        *path++ = digits[--count];
    }
    *append(path, ".BIN") = '\0';
}
#endif

/* The timed part. Returns the number of bytes written; with FR_OK, less than the file's size means a full disk. */
static SECTION FRESULT write_file(FIL *file, uint32_t size, uint32_t *written)
{
    FRESULT result;
    UINT now;

    *written = 0;
    do {
        result = f_write(file, data + *written, size, &now);
        if (result == FR_OK) {
            result = write_order_after_write();
        }
        if (result == FR_OK) {
            *written += now;
        }
    } while (result == FR_OK && now == size && *written < APP_FILE_BYTES);
    return result;
}

static void print_results(int32_t size)
{
    static const struct {
        int section;
        const char *time;
        const char *occurrences;
    } parts[] = {
        {SD_SECTION_XMIT, "xmit_time", "xmit_occurrences"},
        {SD_SECTION_CRC, "crc_time", "crc_occurrences"},
        {SD_SECTION_BUSY, "busy_time", "busy_occurrences"},
    };
    void *counter = (void *)BOARD_PERFORMANCE_COUNTER_BASE;
    uint64_t total = perf_get_section_time(counter, SECTION_TOTAL);

    perf_print_formatted_report(counter, BOARD_CLOCK_HZ, 4, "total", "xmit", "CRC", "busy");
    result_seconds_at("total_time", "transfer", size, total, BOARD_CLOCK_HZ);
    result_number_at("total_cycles", "transfer", size, "cycles", total);
    for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        uint64_t time = perf_get_section_time(counter, parts[i].section);
        uint32_t times = perf_get_num_starts(counter, parts[i].section);
        result_seconds_at(parts[i].time, "transfer", size, time, BOARD_CLOCK_HZ);
        result_number_at(parts[i].occurrences, "transfer", size, "calls", times);
    }
}

static int fail(const char *step, const char *name, FRESULT result)
{
    console_print("%s %s: ", step, name);
    disk_print_result(result);
    disk_print_card_error(DRIVE);
    console_print("\n");
    return EXIT_FAILED;
}

static int fail_writing(const char *name, FRESULT result, uint32_t written)
{
    console_print("f_write %s: ", name);
    if (result == FR_OK) {
        console_print("disk full");
    } else {
        disk_print_result(result);
    }
    console_print(" after %u bytes", written);
    disk_print_card_error(DRIVE);
    console_print("\n");
    return EXIT_FAILED;
}

/* Writes, times and reports; the file is open and stays so. */
static int measure(FIL *file, const char *name, uint32_t size)
{
    uint32_t written;

    PERF_RESET(BOARD_PERFORMANCE_COUNTER_BASE);
    PERF_START_MEASURING(BOARD_PERFORMANCE_COUNTER_BASE);
    PERF_BEGIN(BOARD_PERFORMANCE_COUNTER_BASE, SECTION_TOTAL);
    FRESULT result = write_file(file, size, &written);
    PERF_END(BOARD_PERFORMANCE_COUNTER_BASE, SECTION_TOTAL);
    PERF_STOP_MEASURING(BOARD_PERFORMANCE_COUNTER_BASE);

    if (result != FR_OK || written < APP_FILE_BYTES) {
        return fail_writing(name, result, written);
    }
    console_print("*** fwrite-size = %u ***\n", size);
    print_results((int32_t)size);
    tick_sleep_ms(APP_GAP_S * 1000u);
    return EXIT_OK;
}

static int run_size(uint32_t size)
{
    static FIL file;
#if APP_FILES_EACH
    char path[PATH_BYTES];

    make_path(path, size);
#else
    const char *path = DRIVE_NAME "BENCH.BIN";

#endif
    FRESULT result = f_unlink(path);
    if (result != FR_OK && result != FR_NO_FILE) {
        return fail("f_unlink", NAME(path), result);
    }
    result = f_open(&file, path, FA_WRITE | FA_OPEN_ALWAYS | FA_CREATE_ALWAYS);
    if (result != FR_OK) {
        return fail("f_open", NAME(path), result);
    }
#if APP_WRITE_ORDER_R006
    write_order_watch(&file);
#endif
    int status = measure(&file, NAME(path), size);
    /* After an error too: what can still be kept is kept. */
    result = write_order_unwatch();
    FRESULT close_result = f_close(&file);
    result = result == FR_OK ? close_result : result;
    return status == EXIT_OK && result != FR_OK ? fail("f_close", NAME(path), result) : status;
}

int main(void)
{
    static FATFS volume;

    tick_start();
    fill_data();
#if APP_CRC_ON
    disk_use_crc(true);
#endif
    FRESULT result = f_mount(&volume, DRIVE_NAME, 1);
    if (result != FR_OK) {
        return fail("f_mount", "card", result);
    }
    for (const uint32_t *size = sizes; *size; size++) {
        int status = run_size(*size);
        if (status != EXIT_OK) {
            return status;
        }
    }
    return EXIT_OK;
}
