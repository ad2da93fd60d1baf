#include "xlnx_transfer.h"

#include <stdbool.h>

#if APP_COMPLETION_INTERRUPTS

/* A full FIFO at the slowest SCK (EXT_SPI_CLK / 2048) takes 0.5 s at 8 MHz: some 10^7 rounds of the loop. */
#define LIMIT_ROUNDS 10000000u

volatile uint32_t transfer_interrupts;
static bool is_lost;

void transfer_wait(void)
{
    for (uint32_t rounds = 0; !transfer_interrupts && !is_lost; rounds++) {
        is_lost = rounds == LIMIT_ROUNDS;
    }
}

#endif
