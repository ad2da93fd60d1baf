#include "stuck.h"

#include "clock.h"
#include "console.h"
#include "exit.h"
#include "stm32_rproc.h"

static uint32_t before;

void stuck_count_before(uint32_t bytes)
{
    before = bytes;
}

/* Sleeps as the writer does, whatever comes; nothing that comes is for it. */
__attribute__((noinline)) static void sleep_without_waker(void)
{
    uint64_t until = clock_ticks() + clock_ticks_of_us(APP_HANG_MS * 1000u);

    while (clock_ticks() < until) {
        stm32_rproc_sleep(stm32_rproc_events(), until);
    }
}

void stuck(struct tty *tty, uint32_t accepted, uint32_t sent, uint32_t bytes)
{
    struct rpmsg_host *host = tty->host;
    uint32_t taken, returned;

    console_print("write: %u of %u bytes accepted, %u of them before; the driver found no free buffer, the writer sleeps\n", before + accepted,
        before + bytes, before);
    sleep_without_waker();
    taken = host->tx.last_used;
    returned = (uint16_t)(host->tx.vring.used->idx - taken);
    console_print("hang: nothing has woken the writer for %u ms:\n", APP_HANG_MS);
    console_print("hang: the client waits in write() until its driver takes %u more bytes; rpmsg_tty never tells the tty layer of free buffers\n",
        bytes - accepted);
    console_print("hang: vring1: the M4 has returned %u of %u buffers, nobody takes them\n", returned, host->buffers);
    console_print("hang: the M4 has got %u bytes, waits for the rest of the block, and acknowledges nothing\n", before + sent);
    program_exit(EXIT_FAILED);
}
