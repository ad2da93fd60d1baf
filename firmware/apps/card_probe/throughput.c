#include "probes.h"

#include "error.h"
#include "riscv.h"

#include <string.h>

/* Short commands are repeated for this many blocks. As many are written first, so that the card has opened the area. */
#define LEAST_BLOCKS 32u
#define MOST_BLOCKS (APP_BLOCKS > LEAST_BLOCKS ? APP_BLOCKS : LEAST_BLOCKS)

#define LENGTHS 10u /* powers of two up to 512 */

_Static_assert(LEAST_BLOCKS + LENGTHS * MOST_BLOCKS <= AREA_BLOCKS, "the area holds what all lengths write");

static uint8_t sent[MOST_BLOCKS * SD_BLOCK_BYTES], received[MOST_BLOCKS * SD_BLOCK_BYTES];

static void fill(void)
{
    uint32_t state = 1;

    for (uint32_t i = 0; i < sizeof sent; i++) {
        state = state * 1664525u + 1013904223u;
        sent[i] = (uint8_t)(state >> 24);
    }
}

static int write_all(struct sd_card *card, uint32_t first, uint32_t blocks, uint32_t run_blocks)
{
    int error = 0;

    for (uint32_t at = 0; at < blocks && !error; at += run_blocks) {
        error = sd_write(card, first + at, sent + at * SD_BLOCK_BYTES, run_blocks);
    }
    return error ? error : sd_sync(card);
}

static int read_all(struct sd_card *card, uint32_t first, uint32_t blocks, uint32_t run_blocks)
{
    int error = 0;

    for (uint32_t at = 0; at < blocks && !error; at += run_blocks) {
        error = sd_read(card, first + at, received + at * SD_BLOCK_BYTES, run_blocks);
    }
    return error;
}

int probe_throughput(struct sd_card *card, const struct area *area, uint32_t run_blocks, struct throughput *found)
{
    static uint32_t next;
    uint32_t blocks = run_blocks > LEAST_BLOCKS ? run_blocks : LEAST_BLOCKS;
    int error = 0;

    if (!next) {
        fill();
        next = area->first + LEAST_BLOCKS;
        error = write_all(card, area->first, LEAST_BLOCKS, 1);
    }
    if (next + blocks > area->first + area->blocks) {
        return ERROR_SD_NO_BLOCK;
    }
    memset(received, 0, sizeof received);
    uint64_t start = riscv_cycles();
    error = error ? error : write_all(card, next, blocks, run_blocks);
    uint64_t written = riscv_cycles();
    error = error ? error : read_all(card, next, blocks, run_blocks);
    *found = (struct throughput){blocks, written - start, riscv_cycles() - written};
    next += blocks;
    return !error && memcmp(sent, received, blocks * SD_BLOCK_BYTES) ? ERROR_SD_READ : error;
}
