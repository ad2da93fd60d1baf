/* Writes a block to the card at each of the board's two controllers, waits for it, and reads it back. */
#include "altera_timer.h"
#include "sd_card.h"

#define BLOCK 5

static int check(const struct sd_port *port)
{
    static uint8_t block[SD_BLOCK_BYTES];
    struct sd_card card;

    for (uint32_t i = 0; i < SD_BLOCK_BYTES; i++) {
        block[i] = (uint8_t)(i * 7);
    }
    if (sd_init(&card, port, true) || sd_write(&card, BLOCK, block, 1) || sd_sync(&card)
        || sd_read(&card, BLOCK, block, 1)) {
        return 1;
    }
    for (uint32_t i = 0; i < SD_BLOCK_BYTES; i++) {
        if (block[i] != (uint8_t)(i * 7)) {
            return 2;
        }
    }
    return 0;
}

int main(void)
{
    tick_start();
    return check(&sd_port_avalonif) << 4 | check(&sd_port_altr_spi);
}
