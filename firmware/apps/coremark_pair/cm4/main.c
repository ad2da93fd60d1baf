/* The M4's half: its checksum goes to the A7. */
#include "armv7m.h"
#include "board.h"
#include "resource_table.h"
#include "stm32_ipcc.h"

#include "../pair.h"

/* It needs nothing of the A7's. */
__attribute__((section(".resource_table"), used)) static struct resource_table_header resources = {.ver = 1};

int main(void)
{
    uint16_t crc = 0xFFFF;

    ipcc_start();
    pair_set_up();
    for (uint32_t round = 0; round < APP_ITERATIONS; round++) {
        crc = pair_round(round, crc);
    }
    *(volatile uint32_t *)BOARD_SHARED_SRAM_BASE = crc;
    ipcc_send(DONE_CHANNEL);
    for (;;) {
        armv7m_wait_for_interrupt();
    }
}
