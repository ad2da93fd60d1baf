/* SD cards in SPI mode (SD Physical Layer Simplified Specification, chapter 7): commands, data blocks, waiting. */
#ifndef SD_SPI_H
#define SD_SPI_H

#include "sd_port.h"

#include <stdbool.h>
#include <stdint.h>

#define SD_BLOCK_BYTES 512u

/* Sections of the performance counter that the driver times. */
#define SD_SECTION_XMIT 2 /* a block or a token on the wire, from its token to the data response */
#define SD_SECTION_CRC 3  /* CRC16 in software: once for each of the above */
#define SD_SECTION_BUSY 4 /* waiting until the card is ready */

/* R1, the answer to a command (7.3.2.1). */
#define SD_R1_READY 0x00
#define SD_R1_IDLE 0x01
#define SD_R1_ILLEGAL_COMMAND 0x04

/* Data tokens (7.3.3). */
#define SD_TOKEN_BLOCK 0xFE          /* of a read, and of a write of one block */
#define SD_TOKEN_MULTIPLE_BLOCK 0xFC /* of a write of more than one */
#define SD_TOKEN_STOP 0xFD

struct sd_link {
    const struct sd_port *port;
    bool checks_crc; /* received data too is checked then */
};

/* Sends a byte to the card, and receives one. */
static inline void sd_xmit(const struct sd_link *link, uint8_t byte)
{
    link->port->exchange(byte);
}

static inline uint8_t sd_rcvr(const struct sd_link *link)
{
    return link->port->exchange(0xFF);
}

/* Polls the card until it is not busy. ERROR_SD_BUSY after 500 ms. */
int sd_wait_ready(const struct sd_link *link);

/* Waits for ready and sends a command. Returns R1, or ERROR_SD_BUSY, or ERROR_SD_SILENT without an answer. */
int sd_command(const struct sd_link *link, uint8_t index, uint32_t argument);

/* Sends a block with SD_TOKEN_BLOCK or SD_TOKEN_MULTIPLE_BLOCK. The card may be busy afterwards. ERROR_SD_BUSY before
   anything is sent; ERROR_SD_CRC or ERROR_SD_WRITE as the card says; ERROR_SD_SILENT if it says nothing. */
int sd_xmit_block(const struct sd_link *link, const uint8_t *block, uint8_t token);

/* Ends a write of more than one block; `block` is the last one sent. */
int sd_xmit_stop(const struct sd_link *link, const uint8_t *block);

/* Receives a data block of `bytes`. ERROR_SD_NO_DATA if none comes within 200 ms, ERROR_SD_READ if the card sends an
   error token instead, ERROR_SD_CRC if the CRCs are checked and differ. */
int sd_rcvr_block(const struct sd_link *link, uint8_t *block, uint32_t bytes);

/* Ends a read of more than one block (CMD12), in the middle of a block too. ERROR_SD_SILENT, ERROR_SD_BUSY. */
int sd_stop_reading(const struct sd_link *link);

/* CRC-CCITT with x^16 + x^12 + x^5 + 1, from 0 (4.5). */
uint16_t sd_crc16(const uint8_t *data, uint32_t bytes);

#endif
