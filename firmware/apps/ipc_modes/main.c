/* Times of blocks between the cores: one alone (from the sender's first access to it until the A7 knows that it has arrived), and many. */
#include "arm_generic_timer.h"
#include "clock.h"
#include "console.h"
#include "exit.h"
#include "link.h"
#include "modes.h"
#include "result.h"

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
    for (uint32_t i = 0; i < APP_BLOCK_BYTES; i++) {
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

    for (uint32_t i = 0; i < APP_BLOCK_BYTES; i++) {
        wrong += link_block[i] != ipc_pattern(i);
    }
    return wrong;
}
#endif

int main(void)
{
    uint64_t single_ns, all_ns;
    uint32_t wrong;

    if (!link_start()) {
        return EXIT_FAILED;
    }
    MODE.start();
    prepare();
    /* Once for the caches. */
    MOVE(1);
    single_ns = ns_of_blocks(APP_ROUNDS, 1);
    all_ns = ns_of_blocks(APP_BLOCKS, APP_BLOCKS);
    wrong = wrong_bytes();
    if (wrong) {
        console_print("ipc_modes: %u bytes of a block are wrong\n", wrong);
        return EXIT_FAILED;
    }
    result_number("latency", "ns", single_ns / APP_ROUNDS);
    result_number("throughput", "B/s", (uint64_t)APP_BLOCK_BYTES * APP_BLOCKS * NS_PER_S / all_ns);
    return EXIT_OK;
}
