/* The thin path through everything that two cores need: a program that is loaded and started, consoles, the mailbox
 * with its interrupts, the timer. */
#include "arm_generic_timer.h"
#include "board.h"
#include "clock.h"
#include "console.h"
#include "exit.h"
#include "interrupts.h"
#include "remoteproc.h"
#include "result.h"
#include "stm32_ipcc.h"
#include "stm32_rcc.h"

#include "arm.h"
#include "hello.h"

#include <stdbool.h>

/* The M4's program, which the build puts into this one. */
extern const uint8_t cm4_firmware_start[], cm4_firmware_end[];

#define PATIENCE_US 100000u

/* Where the M4 has memory for its program (Linux, stm32mp151.dtsi, the dma-ranges of mlahb), and where that is here. */
static const struct remoteproc_memory memories[] = {
    {0, BOARD_RETRAM_BYTES, BOARD_RETRAM_BASE},
    {BOARD_MCU_SRAM_BASE, BOARD_MCU_SRAM_BYTES, BOARD_MCU_SRAM_BASE},
};

static volatile bool answered;
static volatile uint64_t answered_at;

static void take_message(uint32_t channel)
{
    answered_at = clock_ticks();
    answered = true;
    ipcc_acknowledge(channel);
}

/* Sleeps until the M4's message or, in vain, for PATIENCE_US. */
static bool wait_for_message(void)
{
    uint64_t end = clock_ticks() + clock_ticks_of_us(PATIENCE_US);

    clock_set_alarm(end);
    while (!answered && clock_ticks() < end) {
        uint32_t before = interrupts_save();
        if (!answered) {
            arm_wait_for_interrupt();
        }
        interrupts_restore(before);
    }
    clock_clear_alarm();
    return answered;
}

static void report(struct link_monitor *monitor)
{
    console_print("%s\n", monitor->text);
}

int main(void)
{
    volatile uint32_t *mailbox = (volatile uint32_t *)BOARD_SHARED_SRAM_BASE;
    struct link_monitor monitor = {.report = report};
    struct remoteproc m4 = {
        .monitor = &monitor, .memories = memories, .memory_count = sizeof memories / sizeof memories[0]};

    console_print("hello from the A7 of %s\n", BOARD_NAME);
    if (!remoteproc_load(&m4, cm4_firmware_start, (uint32_t)(cm4_firmware_end - cm4_firmware_start))) {
        return EXIT_FAILED;
    }
    ipcc_start();
    ipcc_on_message(HELLO_CHANNEL, take_message);
    *mailbox = 0;
    uint64_t start = clock_ticks();
    rcc_start_mcu();
    if (!wait_for_message()) {
        console_print("the M4 says nothing\n");
        return EXIT_FAILED;
    }
    console_print("the M4 says 0x%08x\n", *mailbox);
    result_number("answer_time", "ns", clock_ns_of_ticks(answered_at - start));
    return *mailbox == HELLO_WORD ? EXIT_OK : EXIT_FAILED;
}
