#include "probes.h"

#include "altera_timer.h"
#include "error.h"
#include "riscv.h"

#define SINGLE_WRITES 64u
#define READS 64u
#define READ_LIMIT_MS 200u
#define BUFFER_PLACES 16u

#define CMD17 17u
#define CMD25 25u

/* The start of jumps: this many blocks are written in order before it. */
#define ORDERED_BLOCKS 8u

/* No probe may leave the area. */
_Static_assert(1 + SINGLE_WRITES <= AREA_LEAST_BLOCKS, "single writes");
_Static_assert(BUFFER_PLACES + PROBE_BUFFER_LIMIT_BLOCKS < AREA_LEAST_BLOCKS, "long writes, and the block before them");
_Static_assert(2 * ORDERED_BLOCKS <= AREA_LEAST_BLOCKS / 4, "jumps: up to a quarter of the area from its middle");

static uint8_t block_data[SD_BLOCK_BYTES];

void spread_add(struct spread *spread, uint64_t clocks)
{
    if (!spread->count || clocks < spread->min_clocks) {
        spread->min_clocks = clocks;
    }
    if (clocks > spread->max_clocks) {
        spread->max_clocks = clocks;
    }
    spread->sum_clocks += clocks;
    spread->count++;
}

int probe_busy_after(struct sd_card *card, uint32_t block, uint64_t *clocks)
{
    int error = sd_write(card, block, block_data, 1);
    uint64_t start = riscv_cycles();

    if (!error) {
        error = sd_sync(card);
    }
    *clocks = riscv_cycles() - start;
    return error;
}

int probe_single_writes(struct sd_card *card, const struct area *area, struct spread *busy)
{
    uint64_t clocks;
    /* The first one pays for leaving where the card was before. */
    int error = probe_busy_after(card, area->first, &clocks);

    for (uint32_t i = 1; i <= SINGLE_WRITES && !error; i++) {
        error = probe_busy_after(card, area->first + i, &clocks);
        spread_add(busy, clocks);
    }
    return error;
}

/* Waits for the token of a block that was asked for, then takes the block. */
static int time_access(struct sd_card *card, uint64_t *clocks)
{
    uint64_t start = riscv_cycles();
    uint32_t start_ms = tick_ms();
    uint8_t token;

    do {
        token = sd_rcvr(&card->link);
    } while (token == 0xFF && tick_ms() - start_ms < READ_LIMIT_MS);
    *clocks = riscv_cycles() - start;
    if (token != SD_TOKEN_BLOCK) {
        return token == 0xFF ? ERROR_SD_NO_DATA : ERROR_SD_READ;
    }
    for (uint32_t i = 0; i < SD_BLOCK_BYTES + 2; i++) {
        sd_rcvr(&card->link);
    }
    return 0;
}

static int read_one(struct sd_card *card, uint32_t block, uint64_t *clocks)
{
    int error = sd_begin(card, CMD17, block);

    return sd_end(card, error ? error : time_access(card, clocks));
}

int probe_reads(struct sd_card *card, const struct area *area, struct spread *access)
{
    uint32_t state = 1;
    int error = 0;

    for (uint32_t i = 0; i < READS && !error; i++) {
        uint64_t clocks = 0;
        state = state * 1664525u + 1013904223u;
        error = read_one(card, area->first + (state >> 8) % area->blocks, &clocks);
        spread_add(access, clocks);
    }
    return error;
}

/* A block without a CRC, which the card checks only if CMD59 enables it: nothing slows the host down. */
static int send_fast(struct sd_card *card, uint64_t *wire_clocks, uint64_t *busy_clocks)
{
    uint64_t start = riscv_cycles();

    sd_xmit(&card->link, SD_TOKEN_MULTIPLE_BLOCK);
    for (uint32_t i = 0; i < SD_BLOCK_BYTES + 2; i++) {
        sd_xmit(&card->link, 0xFF);
    }
    uint8_t response = sd_rcvr(&card->link);
    uint64_t sent = riscv_cycles();
    int error = sd_wait_ready(&card->link);

    *wire_clocks = sent - start;
    *busy_clocks = riscv_cycles() - sent;
    return (response & 0x1F) == 0x05 ? error : ERROR_SD_WRITE;
}

/* Until the card is busy for longer than a tenth of a block's time on the wire. */
static int fill_buffer(struct sd_card *card, uint32_t limit, uint32_t *blocks)
{
    uint64_t wire_clocks = 0, busy_clocks = 0;
    int error = 0;

    *blocks = 0;
    while (*blocks < limit && !error && busy_clocks <= wire_clocks / 10) {
        error = send_fast(card, &wire_clocks, &busy_clocks);
        ++*blocks;
    }
    int stop_error = sd_xmit_stop(&card->link, block_data);
    return error ? error : stop_error;
}

/* A write that begins elsewhere than the last one ended: the card has to make ready for it while blocks come. */
static int fill_after_jump(struct sd_card *card, uint32_t away, uint32_t first, uint32_t *blocks)
{
    uint64_t ignored;
    int error = probe_busy_after(card, away, &ignored);
    if (error) {
        return error;
    }
    error = sd_begin(card, CMD25, first);
    error = sd_end(card, error ? error : fill_buffer(card, PROBE_BUFFER_LIMIT_BLOCKS, blocks));
    return error ? error : sd_sync(card);
}

int probe_write_buffer(struct sd_card *card, const struct area *area, uint32_t *blocks)
{
    uint32_t away = area->first + area->blocks - 1;
    int error = 0;

    *blocks = 0;
    /* Where its buffers begin is not known: somewhere among these. */
    for (uint32_t i = 0; i < BUFFER_PLACES && *blocks < PROBE_BUFFER_LIMIT_BLOCKS && !error; i++) {
        uint32_t taken = 0;
        error = fill_after_jump(card, away, area->first + i, &taken);
        *blocks = taken > *blocks ? taken : *blocks;
    }
    return error;
}

int probe_jump(struct sd_card *card, const struct area *area, int32_t distance, uint64_t *clocks)
{
    uint32_t place = area->first + area->blocks / 2;
    int error = 0;

    for (uint32_t i = 0; i < ORDERED_BLOCKS && !error; i++) {
        error = probe_busy_after(card, place + i, clocks);
    }
    uint32_t end = place + ORDERED_BLOCKS;
    return error ? error : probe_busy_after(card, end + (uint32_t)distance, clocks);
}
