/* Blocks in a large buffer in the DDR3L that both cores see; RPMsg carries only where they are. */
#include "board.h"
#include "cache.h"
#include "console.h"
#include "error.h"
#include "exit.h"
#include "link.h"
#include "modes.h"
#include "stm32_mdma.h"
#include "string.h"

#define DMA_CHANNEL 0u

#if APP_SHARED_CACHE_ON
#define CACHED 1
#else
#define CACHED 0
#endif

#if APP_DMA_ON
/* Neither end of the MDMA's way goes through the caches. */
static void move(void *to, const void *from)
{
    int error = mdma_copy(DMA_CHANNEL, to, from, link_block_bytes);

    if (error) {
        console_print("ipc_modes: MDMA: %s\n", error_text(error));
        program_exit(EXIT_FAILED);
    }
}

static void fill(uint8_t *slot)
{
    cache_clean(link_block, link_block_bytes);
    move(slot, link_block);
}

static void empty(const uint8_t *slot)
{
    cache_invalidate(link_block, link_block_bytes);
    move(link_block, slot);
}

static void start(void)
{
    mdma_start();
}
#else
static void fill(uint8_t *slot)
{
    memcpy(slot, link_block, link_block_bytes);
    if (CACHED) {
        cache_clean(slot, link_block_bytes);
    }
}

static void empty(const uint8_t *slot)
{
    if (CACHED) {
        cache_invalidate(slot, link_block_bytes);
    }
    memcpy(link_block, slot, link_block_bytes);
}

static void start(void)
{
}
#endif

static void send(uint32_t count)
{
    uint32_t first = link_done;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = i % SLOTS * SLOT_BYTES;

        if (i >= SLOTS) {
            link_wait(&link_done, first + i - SLOTS + 1, "blocks taken");
        }
        fill((uint8_t *)(BOARD_IPC_SHARED_BASE + offset));
        link_tell(IPC_BLOCK, offset, 0);
    }
    link_wait(&link_done, first + count, "blocks taken");
}

static void fetch(uint32_t count)
{
    uint32_t before = link_blocks;

    link_tell(IPC_REQUEST, 0, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset;

        link_wait(&link_blocks, before + i + 1, "blocks sent");
        if (link_next_block(&offset)) {
            empty((const uint8_t *)(BOARD_IPC_SHARED_BASE + offset));
            link_tell(IPC_DONE, offset, 0);
        }
    }
}

const struct mode mode_indirect = {start, send, fetch};
