/* What Linux's tty is between a program and the M4, for a program on the host of a virtual board: its blocks come by a
 * virtio console. A block's memory goes back to the console when write() would return, so the host's program goes on
 * when one on the board would. */
#include "arm.h"
#include "arm_generic_timer.h"
#include "board.h"
#include "clock.h"
#include "console.h"
#include "exit.h"
#include "gic.h"
#include "interrupts.h"
#include "stm32_rproc.h"
#include "tty_ports.h"
#include "virtio_console.h"

#define ANSWER_BYTES 512u

static struct virtio_console host;
static volatile uint32_t host_calls;

static void end_with_fault(struct link_monitor *monitor)
{
    console_print("virtio console: %s\n", monitor->text);
    program_exit(EXIT_FAILED);
}

static void host_calling(void)
{
    virtio_console_interrupt(&host);
    host_calls = host_calls + 1;
}

#if APP_OVERFLOW_ORIGINAL
/* The writer sleeps, and nobody wakes it. */
static void sleep_for_ever(struct tty *tty)
{
    console_print(
        "write: sleeps; %u bytes accepted, %u sent, no buffer is free, and nobody warns the tty layer of one\n",
        tty->accepted, tty->sent);
    for (;;) {
        stm32_rproc_sleep(stm32_rproc_events(), UINT64_MAX);
    }
}
#endif

/* True if a block came; the M4 has it when this comes back, or the program has ended. */
static bool take_block(struct tty *tty)
{
    const uint8_t *data;
    uint32_t bytes = virtio_console_read(&host, &data);

    if (bytes == 0) {
        return false;
    }
    if (tty_write(tty, data, bytes) != 0) {
        console_print("the write failed\n");
        program_exit(EXIT_FAILED);
    }
    virtio_console_done(&host);
    return true;
}

/* True if something came from the M4. */
static bool give_answer(struct tty *tty)
{
    uint8_t data[ANSWER_BYTES];
    uint32_t bytes;

    if (tty->head == tty->tail) {
        return false;
    }
    if (APP_LINUX_DELAY_US) {
        clock_sleep_us(APP_LINUX_DELAY_US);
    }
    bytes = tty_read(tty, data, sizeof data, 0);
    return virtio_console_write(&host, data, bytes);
}

/* Until the host or the M4 has called since these numbers were read. */
static void sleep_until_called(uint32_t host_seen, uint32_t m4_seen)
{
    uint32_t before = interrupts_save();

    /* One that comes between the look and the wfi ends the wfi. */
    if (host_calls == host_seen && stm32_rproc_events() == m4_seen) {
        arm_wait_for_interrupt();
    }
    interrupts_restore(before);
}

int main(void)
{
    static struct link_monitor monitor = {.report = end_with_fault};
    struct tty *tty = &tty_ports[0];

    if (!tty_ports_start(APP_BUFFER_BYTES)) {
        return EXIT_FAILED;
    }
#if APP_OVERFLOW_ORIGINAL
    tty->stuck = sleep_for_ever;
#endif
    gic_enable(GIC_SPI(BOARD_HOST_TTY_INTERRUPT), host_calling);
    if (!virtio_console_start(&host, BOARD_HOST_TTY_BASE, &monitor)) {
        return EXIT_FAILED;
    }
    for (;;) {
        uint32_t host_seen = host_calls, m4_seen = stm32_rproc_events();
        bool took = take_block(tty), gave = give_answer(tty);

        if (!took && !gave) {
            sleep_until_called(host_seen, m4_seen);
        }
    }
}
