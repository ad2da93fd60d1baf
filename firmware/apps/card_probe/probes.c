#include "probes.h"

#include "altera_timer.h"
#include "error.h"
#include "riscv.h"

#define SINGLE_WRITES 64u
#define READS 64u
#define READ_LIMIT_MS 200u

#define CMD17 17u
#define CMD25 25u

/* Where jumps start: so many blocks in order are written first. */
#define ORDERED_BLOCKS 8u

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
    card->link.port->select(true);
    int response = sd_command(&card->link, CMD17, sd_address(card, block));
    int error = response < 0 ? response : response ? ERROR_SD_COMMAND : time_access(card, clocks);
    card->link.port->select(false);
    sd_rcvr(&card->link);
    return error;
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

/* A block without a CRC, which the card does not check unless told to: nothing slows the host down. */
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

static int fill_buffer(struct sd_card *card, uint32_t limit, uint32_t *blocks)
{
    uint64_t wire_clocks, busy_clocks = 0;
    int error = 0;

    for (*blocks = 0; *blocks < limit; ++*blocks) {
        error = send_fast(card, &wire_clocks, &busy_clocks);
        if (error || busy_clocks > wire_clocks / 10) {
            ++*blocks;
            break;
        }
    }
    int stop_error = sd_xmit_stop(&card->link, block_data);
    return error ? error : stop_error;
}

int probe_write_buffer(struct sd_card *card, const struct area *area, uint32_t *blocks)
{
    uint32_t limit = area->blocks < PROBE_BUFFER_LIMIT_BLOCKS ? area->blocks : PROBE_BUFFER_LIMIT_BLOCKS;
    uint64_t clocks;
    /* It begins in order, so what it costs to get there is paid. */
    int error = probe_busy_after(card, area->first, &clocks);
    if (error) {
        return error;
    }
    card->link.port->select(true);
    int response = sd_command(&card->link, CMD25, sd_address(card, area->first + 1));
    error = response < 0 ? response : response ? ERROR_SD_COMMAND : fill_buffer(card, limit - 1, blocks);
    card->link.port->select(false);
    sd_rcvr(&card->link);
    return error ? error : sd_sync(card);
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
