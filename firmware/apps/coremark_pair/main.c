/* Both cores compute at once, with nothing to wait for in between: how fast the simulator is with two of them. */
#include "arm.h"
#include "board.h"
#include "console.h"
#include "exit.h"
#include "interrupts.h"
#include "remoteproc.h"
#include "result.h"
#include "stm32_ipcc.h"
#include "stm32_rcc.h"

#include "pair.h"

#include <stdbool.h>

/* The M4's program, which the build puts into this one. */
extern const uint8_t cm4_firmware_start[], cm4_firmware_end[];

/* The A7 is about this many times as fast. */
#define ROUNDS_FOR_ONE 4u

/* Where the M4 has memory for its program (Linux, stm32mp151.dtsi, the dma-ranges of mlahb), and where that is here. */
static const struct remoteproc_memory memories[] = {
    {0, BOARD_RETRAM_BYTES, BOARD_RETRAM_BASE},
    {BOARD_MCU_SRAM_BASE, BOARD_MCU_SRAM_BYTES, BOARD_MCU_SRAM_BASE},
};

static volatile bool done;

static void take_message(uint32_t channel)
{
    done = true;
    ipcc_acknowledge(channel);
}

static void wait_for_m4(void)
{
    while (!done) {
        uint32_t before = interrupts_save();
        if (!done) {
            arm_wait_for_interrupt();
        }
        interrupts_restore(before);
    }
}

static void report(struct link_monitor *monitor)
{
    console_print("%s\n", monitor->text);
}

int main(void)
{
    struct link_monitor monitor = {.report = report};
    struct remoteproc m4 = {
        .monitor = &monitor, .memories = memories, .memory_count = sizeof memories / sizeof memories[0]};
    uint16_t crc = 0xFFFF, after_same = 0;

    if (!remoteproc_load(&m4, cm4_firmware_start, (uint32_t)(cm4_firmware_end - cm4_firmware_start))) {
        return EXIT_FAILED;
    }
    ipcc_start();
    ipcc_on_message(DONE_CHANNEL, take_message);
    rcc_start_mcu();
    pair_set_up();
    for (uint32_t round = 0; round < APP_ITERATIONS * ROUNDS_FOR_ONE; round++) {
        crc = pair_round(round, crc);
        if (round == APP_ITERATIONS - 1) {
            after_same = crc;
        }
    }
    wait_for_m4();
    uint32_t theirs = *(volatile uint32_t *)BOARD_SHARED_SRAM_BASE;
    console_print("after as many rounds, the A7 has 0x%04x, the M4 0x%04x\n", after_same, theirs);
    result_number("checksum", "crc16", crc);
    return theirs == after_same ? EXIT_OK : EXIT_FAILED;
}
