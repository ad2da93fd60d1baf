/* An SD or MMC card in SPI mode: power-up, blocks, erase, registers (SD Physical Layer Simplified Specification). */
#ifndef SD_CARD_H
#define SD_CARD_H

#include "sd_spi.h"

enum sd_kind {
    SD_NONE, /* not initialised */
    SD_MMC,
    SD_V1,
    SD_V2,
};

struct sd_card {
    struct sd_link link;
    enum sd_kind kind;
    bool has_block_addresses; /* SDHC; others are addressed by byte */
    int error;                /* of the last function that failed, for messages */
    uint8_t refused;          /* the command of ERROR_SD_COMMAND and the R1 that it got */
    uint8_t response;
};

/* All that can fail give 0 or an error; ERROR_SD_COMMAND, ERROR_SD_BUSY and ERROR_SD_SILENT can come from each,
   ERROR_SD_NO_BLOCK where blocks are named. Time is tick_ms's: without tick_start, a card that is not ready is waited
   for without end. */

/* Powers a card up and sets the fast clock; `crc` switches the CRC checks on in both directions (CMD59).
   ERROR_SD_NO_CARD, ERROR_SD_POWER_UP. */
int sd_init(struct sd_card *card, const struct sd_port *port, bool crc);

/* Reads or writes `count` blocks (not 0) from `first` on. Blocks that a failed write has written are not reported. A
   card reports errors in its flash by CMD13 only, after it was busy (7.2.4): as in the report's driver, nobody asks. */
int sd_read(struct sd_card *card, uint32_t first, uint8_t *to, uint32_t count);
int sd_write(struct sd_card *card, uint32_t first, const uint8_t *from, uint32_t count);

/* For what goes below blocks: selects the card and sends it a command with a block's address, then deselects it,
   whatever came between; `error` is kept for messages and given back. sd_end belongs to each sd_begin, failed ones
   too. */
int sd_begin(struct sd_card *card, uint8_t index, uint32_t block);
int sd_end(struct sd_card *card, int error);

/* Waits until the card has finished all commands. */
int sd_sync(struct sd_card *card);

/* The argument of a command that means this block: its number or that of its first byte. */
uint32_t sd_address(const struct sd_card *card, uint32_t block);

/* Erases blocks `first` to `last`, both included; as long as it takes the card (up to 30 s). */
int sd_erase(struct sd_card *card, uint32_t first, uint32_t last);

/* Registers as the card sends them, most significant byte first. Only SD cards have a status (ACMD13). */
#define SD_CSD_BYTES 16u
#define SD_STATUS_BYTES 64u
int sd_read_csd(struct sd_card *card, uint8_t csd[SD_CSD_BYTES]);
int sd_read_status(struct sd_card *card, uint8_t status[SD_STATUS_BYTES]);

/* Their contents: the card's size, and its preferred unit for erasing and writing. */
int sd_read_block_count(struct sd_card *card, uint32_t *blocks);
int sd_read_erase_blocks(struct sd_card *card, uint32_t *blocks);

/* A few words for people on the card's last error. */
void sd_print_error(const struct sd_card *card);

#endif
