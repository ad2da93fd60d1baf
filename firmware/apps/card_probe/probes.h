/* Measurements of a card, each by a few hundred transfers. All functions return 0 or an error of the card. */
#ifndef PROBES_H
#define PROBES_H

#include "area.h"

#include <stdint.h>

struct spread {
    uint64_t min_clocks;
    uint64_t sum_clocks;
    uint64_t max_clocks;
    uint32_t count;
};

void spread_add(struct spread *spread, uint64_t clocks);

/* How long the card is busy after a block that is written alone, at `block`. */
int probe_busy_after(struct sd_card *card, uint32_t block, uint64_t *clocks);

/* The same for blocks in order. */
int probe_single_writes(struct sd_card *card, const struct area *area, struct spread *busy);

/* From the answer to CMD17 until the data block's token, for blocks here and there. */
int probe_reads(struct sd_card *card, const struct area *area, struct spread *access);

/* How much the card buffers: the most blocks that it takes as fast as the host sends them, while it makes ready to
   write elsewhere than before. PROBE_BUFFER_LIMIT_BLOCKS if it never holds the host back then: such a card does not
   show it. A write in order is no measure: a card may keep up with it for as long as it has erased blocks. */
#define PROBE_BUFFER_LIMIT_BLOCKS 256u
int probe_write_buffer(struct sd_card *card, const struct area *area, uint32_t *blocks);

/* Busy time after a block at `distance` blocks from where an ordered write ended. */
int probe_jump(struct sd_card *card, const struct area *area, int32_t distance, uint64_t *clocks);

/* Guesses the unit that the card erases, in blocks: a write away from the open block costs more the further it is from
   the start of its unit. 0 if no such rise and fall is found. */
int probe_erase_block(struct sd_card *card, const struct area *area, uint32_t *blocks);

/* Writes and reads blocks in order, from the end of the last call on: a command of `run_blocks`, repeated for 32 blocks
   if it is shorter. The write ends when the card is ready again. ERROR_SD_READ if other bytes come back,
   ERROR_SD_NO_BLOCK if the area has too few. */
struct throughput {
    uint32_t blocks;
    uint64_t write_clocks;
    uint64_t read_clocks;
};
int probe_throughput(struct sd_card *card, const struct area *area, uint32_t run_blocks, struct throughput *found);

#endif
