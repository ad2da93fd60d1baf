#include "stuck.h"

#include "client.h"
#include "clock.h"
#include "console.h"
#include "exit.h"
#include "stm32_rproc.h"

/* Sleeps as the writer does, whatever comes; nothing that comes is for it. */
__attribute__((noinline)) static void sleep_without_waker(void)
{
    uint64_t until = clock_ticks() + clock_ticks_of_us(APP_HANG_MS * 1000u);

    while (clock_ticks() < until) {
        stm32_rproc_sleep(stm32_rproc_events(), until);
    }
}

void stuck(struct tty *tty)
{
    const struct client_test *test = tty->context;
    struct rpmsg_host *host = tty->host;
    uint32_t bytes = test->block_bytes * test->blocks;
    uint32_t returned;

    console_print("write: sleeps; %u of %u bytes accepted, no buffer is free\n", tty->accepted, bytes);
    sleep_without_waker();
    returned = (uint16_t)(host->tx.vring.used->idx - host->tx.last_used);
    console_print("hang: nobody has woken the client's write() for %u ms\n", APP_HANG_MS);
    console_print("hang: a7: write() waits until its driver has room for %u bytes more; rpmsg_tty never warns the tty "
                  "layer of free buffers\n",
        bytes - tty->accepted);
    console_print(
        "hang: vring1: the M4 has returned %u of %u buffers, nobody on the A7 takes them\n", returned, host->buffers);
    console_print("hang: m4: was sent %u of %u bytes, waits for the others, and acknowledges only all of them\n",
        tty->sent, bytes);
    program_exit(EXIT_FAILED);
}
