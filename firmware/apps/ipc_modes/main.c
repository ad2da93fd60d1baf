/* Times of blocks between the cores: one alone (from the sender's first access to it until the A7 knows that it has
 * arrived), and many. */
#include "arm_generic_timer.h"
#include "clock.h"
#include "console.h"
#include "exit.h"
#include "link.h"
#include "modes.h"

#if APP_MODE_RAW
#define MODE mode_raw
#else
#define MODE mode_indirect
#endif

#if APP_DIRECTION_TO_M4
#define MOVE MODE.send
#else
#define MOVE MODE.fetch
#endif

#define NS_PER_S 1000000000ull

static uint64_t ns_of_blocks(uint32_t blocks, uint32_t at_once)
{
    uint64_t start = clock_ticks();

    for (uint32_t i = 0; i < blocks; i += at_once) {
        MOVE(at_once);
    }
    return clock_ns_of_ticks(clock_ticks() - start);
}

#if APP_DIRECTION_TO_M4
static void prepare(void)
{
    for (uint32_t i = 0; i < link_block_bytes; i++) {
        link_block[i] = ipc_pattern(i);
    }
}

/* The M4 looks at the last portion that it got. */
static uint32_t wrong_bytes(void)
{
    uint32_t asked = link_done;

    link_tell(IPC_CHECK, 0, 0);
    link_wait(&link_done, asked + 1, "answers");
    return link_value;
}
#else
static void prepare(void)
{
}

static uint32_t wrong_bytes(void)
{
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < link_block_bytes; i++) {
        wrong += link_block[i] != ipc_pattern(i);
    }
    return wrong;
}
#endif

/* Bytes of blocks that are measured one after the other. */
static const uint32_t sizes[] = {
#if APP_SIZES_ONE
    APP_BLOCK_BYTES,
#elif APP_MODE_RAW
    16, 64, 240, 496, 992, 4096, 16384, 65536,
#else
    496, 4096, 16384, 65536, 262144, 1048576,
#endif
};

static uint32_t limited(uint32_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Prints latency and throughput of blocks of this size. False if the last of them has wrong bytes. */
static bool measure(uint32_t bytes)
{
    uint32_t blocks = limited(APP_MOVED_BYTES / bytes, 2, 64), rounds = limited(blocks, 2, 8), wrong;
    uint64_t single_ns, all_ns;

    link_resize(bytes);
    prepare();
    /* Once for the caches. */
    MOVE(1);
    single_ns = ns_of_blocks(rounds, 1);
    all_ns = ns_of_blocks(blocks, blocks);
    wrong = wrong_bytes();
    if (wrong) {
        console_print("ipc_modes: %u bytes of a block of %u are wrong\n", wrong, bytes);
        return false;
    }
    console_print(
        "{\"metric\":\"latency\",\"block_bytes\":%u,\"unit\":\"ns\",\"value\":%llu}\n", bytes, single_ns / rounds);
    console_print("{\"metric\":\"throughput\",\"block_bytes\":%u,\"unit\":\"B/s\",\"value\":%llu}\n", bytes,
        (uint64_t)bytes * blocks * NS_PER_S / all_ns);
    return true;
}

int main(void)
{
    if (!link_start()) {
        return EXIT_FAILED;
    }
    MODE.start();
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (!measure(sizes[i])) {
            return EXIT_FAILED;
        }
    }
    return EXIT_OK;
}
