#include "blocks.h"

#include "board.h"
#include "console.h"
#include "exit.h"
#include "ipc_modes.h"
#include "stm32_mdma.h"
#include "string.h"

#define DMA_CHANNEL 1u

static uint8_t received[PORTION_BYTES] __attribute__((aligned(8)));
static uint8_t source[PORTION_BYTES] __attribute__((aligned(8)));
static uint32_t received_at, last_portion;

uint32_t blocks_bytes;

void blocks_start(void)
{
    for (uint32_t i = 0; i < PORTION_BYTES; i++) {
        source[i] = ipc_pattern(i);
        received[i] = (uint8_t)~source[i];
    }
#if APP_DMA_ON
    mdma_start();
#endif
}

void blocks_resize(uint32_t bytes)
{
    blocks_bytes = bytes;
    received_at = 0;
}

static void move(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
#if APP_DMA_ON
    if (mdma_copy(DMA_CHANNEL, to, from, bytes) != 0) {
        console_print("MDMA failed\n");
        program_exit(EXIT_FAILED);
    }
#else
    memcpy(to, from, bytes);
#endif
}

static uint32_t portion_at(uint32_t at)
{
    uint32_t left = blocks_bytes - at;

    return left < PORTION_BYTES ? left : PORTION_BYTES;
}

void blocks_take(uint32_t offset)
{
    const uint8_t *slot = (const uint8_t *)(BOARD_IPC_SHARED_BASE + offset);

    for (uint32_t at = 0; at < blocks_bytes; at += last_portion) {
        last_portion = portion_at(at);
        move(received, slot + at, last_portion);
    }
}

void blocks_put(uint32_t offset)
{
    uint8_t *slot = (uint8_t *)(BOARD_IPC_SHARED_BASE + offset);

    for (uint32_t at = 0; at < blocks_bytes; at += PORTION_BYTES) {
        move(slot + at, source, portion_at(at));
    }
}

int blocks_receive(const uint8_t *data, uint32_t bytes)
{
    while (bytes) {
        uint32_t at = received_at % PORTION_BYTES;
        uint32_t part = PORTION_BYTES - at < bytes ? PORTION_BYTES - at : bytes;

        memcpy(received + at, data, part);
        data += part;
        bytes -= part;
        received_at += part;
        last_portion = at + part;
    }
    if (received_at < blocks_bytes) {
        return 0;
    }
    received_at = 0;
    return 1;
}

const uint8_t *blocks_data(uint32_t at, uint32_t *bytes)
{
    uint32_t in_portion = at % PORTION_BYTES;

    if (*bytes > PORTION_BYTES - in_portion) {
        *bytes = PORTION_BYTES - in_portion;
    }
    if (*bytes > blocks_bytes - at) {
        *bytes = blocks_bytes - at;
    }
    return source + in_portion;
}

uint32_t blocks_wrong(void)
{
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < last_portion; i++) {
        wrong += received[i] != source[i];
    }
    return wrong;
}
