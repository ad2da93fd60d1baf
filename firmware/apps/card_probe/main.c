/* A card below the file system: response times, the room for writes, and the cost of jumps. */
#include "altera_timer.h"
#include "area.h"
#include "board.h"
#include "console.h"
#include "exit.h"
#include "probes.h"
#include "result.h"

static int fail(const char *what, FRESULT result)
{
    console_print("%s: ", what);
    disk_print_result(result);
    disk_print_card_error(DRIVE);
    console_print("\n");
    return EXIT_FAILED;
}

#if APP_OPERATION_PROBE
static uint64_t microseconds(uint64_t clocks)
{
    return (clocks * 1000000u + BOARD_CLOCK_HZ / 2) / BOARD_CLOCK_HZ;
}

static int find_times(struct sd_card *card, const struct area *area)
{
    struct spread busy = {0}, access = {0};
    int error = probe_single_writes(card, area, &busy);
    if (!error) {
        error = probe_reads(card, area, &access);
    }
    if (error) {
        return error;
    }
    result_number("write_busy_min", "us", microseconds(busy.min_clocks));
    result_number("write_busy_mean", "us", microseconds(busy.sum_clocks / busy.count));
    result_number("write_busy_max", "us", microseconds(busy.max_clocks));
    result_number("read_access_min", "us", microseconds(access.min_clocks));
    result_number("read_access_mean", "us", microseconds(access.sum_clocks / access.count));
    result_number("read_access_max", "us", microseconds(access.max_clocks));
    return 0;
}

static int find_write_buffer(struct sd_card *card, const struct area *area)
{
    uint32_t blocks;
    int error = probe_write_buffer(card, area, &blocks);

    if (!error) {
        result_number("write_buffer", "blocks", blocks);
    }
    return error;
}

static int find_jumps(struct sd_card *card, const struct area *area)
{
    static const int32_t distances[] = {-1024, -256, -64, -16, -4, -1, 0, 1, 4, 16, 64, 256, 1024};
    int32_t reach = (int32_t)area->blocks / 4;

    for (uint32_t i = 0; i < sizeof distances / sizeof distances[0]; i++) {
        uint64_t clocks;

        if (distances[i] > reach || -distances[i] > reach) {
            continue;
        }
        int error = probe_jump(card, area, distances[i], &clocks);
        if (error) {
            return error;
        }
        result_number_at("jump_busy", "distance", distances[i], "us", microseconds(clocks));
    }
    return 0;
}

static int find_erase_block(struct sd_card *card, const struct area *area)
{
    uint32_t blocks;
    int error = probe_erase_block(card, area, &blocks);

    if (!error) {
        result_number("erase_block", "B", (uint64_t)blocks * SD_BLOCK_BYTES);
    }
    return error;
}
#else
static int find_throughput(struct sd_card *card, const struct area *area)
{
    for (uint32_t run_blocks = 1; run_blocks <= APP_BLOCKS; run_blocks *= 2) {
        struct throughput found;
        int error = probe_throughput(card, area, run_blocks, &found);
        if (error) {
            return error;
        }
        uint64_t bytes = (uint64_t)found.blocks * SD_BLOCK_BYTES;
        result_number_at("write_throughput", "run_blocks", (int32_t)run_blocks, "B/s",
                         bytes * BOARD_CLOCK_HZ / found.write_clocks);
        result_number_at("read_throughput", "run_blocks", (int32_t)run_blocks, "B/s",
                         bytes * BOARD_CLOCK_HZ / found.read_clocks);
    }
    return 0;
}
#endif

static int probe(struct sd_card *card, const struct area *area)
{
    int (*const probes[])(struct sd_card *, const struct area *) = {
#if APP_OPERATION_THROUGHPUT
        find_throughput,
#else
        find_times, find_write_buffer, find_jumps, find_erase_block,
#endif
    };
    for (uint32_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        int error = probes[i](card, area);
        if (error) {
            card->error = error;
            return error;
        }
    }
    return 0;
}

int main(void)
{
    static FATFS volume;
    struct area area;

    tick_start();
    FRESULT result = f_mount(&volume, DRIVE_NAME, 1);
    if (result != FR_OK) {
        return fail("f_mount card", result);
    }
    result = area_make(&area);
    if (result != FR_OK) {
        return fail(FILE_NAME, result);
    }
    console_print("probing %u blocks from block %u on\n", area.blocks, area.first);
    return probe(disk_card(DRIVE), &area) ? fail("probe", FR_DISK_ERR) : EXIT_OK;
}
