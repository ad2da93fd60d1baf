#include "sd_card.h"

#include "altera_timer.h"
#include "console.h"
#include "error.h"

#define CMD0 0   /* GO_IDLE_STATE */
#define CMD1 1   /* SEND_OP_COND of MMC */
#define CMD8 8   /* SEND_IF_COND */
#define CMD9 9   /* SEND_CSD */
#define CMD12 12 /* STOP_TRANSMISSION */
#define CMD16 16 /* SET_BLOCKLEN */
#define CMD17 17 /* READ_SINGLE_BLOCK */
#define CMD18 18 /* READ_MULTIPLE_BLOCK */
#define CMD24 24 /* WRITE_BLOCK */
#define CMD25 25 /* WRITE_MULTIPLE_BLOCK */
#define CMD32 32 /* ERASE_WR_BLK_START_ADDR */
#define CMD33 33 /* ERASE_WR_BLK_END_ADDR */
#define CMD38 38 /* ERASE */
#define CMD55 55 /* APP_CMD */
#define CMD58 58 /* READ_OCR */
#define CMD59 59 /* CRC_ON_OFF */
#define ACMD13 13 /* SD_STATUS */
#define ACMD23 23 /* SET_WR_BLK_ERASE_COUNT */
#define ACMD41 41 /* SD_SEND_OP_COND */

#define IF_COND_27_36_V 0x1AAu /* 2.7 to 3.6 V and the check pattern that comes back */
#define OP_COND_HCS (1u << 30)
#define OCR_CCS_BYTE_0 0x40

#define IDLE_CLOCK_HZ 400000u /* at most, until the card is initialised (7.2.1 with 4.2.1) */
#define FAST_CLOCK_HZ 25000000u
#define POWER_UP_BYTES 10     /* 80 clocks; 74 are asked for */
#define POWER_UP_LIMIT_MS 1000u
#define ERASE_LIMIT_MS 30000u

static void select(const struct sd_card *card)
{
    card->link.port->select(true);
}

/* The card releases the line only with a clock after the deselection. */
static void deselect(const struct sd_card *card)
{
    card->link.port->select(false);
    sd_rcvr(&card->link);
}

/* Sends a command that must be answered by `wanted`. */
static int command(struct sd_card *card, uint8_t index, uint32_t argument, uint8_t wanted)
{
    int response = sd_command(&card->link, index, argument);
    if (response < 0) {
        return response;
    }
    if (response != wanted) {
        card->refused = index;
        card->response = (uint8_t)response;
        return ERROR_SD_COMMAND;
    }
    return 0;
}

/* Byte addresses end at 4 GiB: past that they would mean the card's first blocks, and a damaged volume may ask for such
   a block. */
static int block_command(struct sd_card *card, uint8_t index, uint32_t block)
{
    if (!card->has_block_addresses && block > UINT32_MAX / SD_BLOCK_BYTES) {
        return ERROR_SD_NO_BLOCK;
    }
    return command(card, index, sd_address(card, block), SD_R1_READY);
}

static int app_command(struct sd_card *card, uint8_t index, uint32_t argument, uint8_t wanted)
{
    int error = command(card, CMD55, 0, wanted);

    return error ? error : command(card, index, argument, wanted);
}

static void receive(const struct sd_card *card, uint8_t *to, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        to[i] = sd_rcvr(&card->link);
    }
}

static int keep(struct sd_card *card, int error)
{
    if (error) {
        card->error = error;
    }
    return error;
}

/* Repeats ACMD41, or CMD1, until the card has left its idle state. */
static int leave_idle(struct sd_card *card, uint32_t op_cond)
{
    uint32_t start = tick_ms();
    int response;

    do {
        if (card->kind != SD_MMC) {
            response = sd_command(&card->link, CMD55, 0);
            if (response < 0) {
                return response;
            }
        }
        response = sd_command(&card->link, card->kind == SD_MMC ? CMD1 : ACMD41, op_cond);
        if (response & SD_R1_ILLEGAL_COMMAND && response > 0 && card->kind == SD_V1) {
            card->kind = SD_MMC;
            response = SD_R1_IDLE;
        }
        if (response <= 0) {
            return response;
        }
    } while (tick_ms() - start < POWER_UP_LIMIT_MS);
    return ERROR_SD_POWER_UP;
}

/* Distinguishes old cards from those that know CMD8 (4.2.2). */
static int find_kind(struct sd_card *card)
{
    int response = sd_command(&card->link, CMD8, IF_COND_27_36_V);

    if (response < 0) {
        return response;
    }
    card->kind = SD_V1;
    if (response == SD_R1_IDLE) {
        uint8_t echo[4];
        receive(card, echo, sizeof echo);
        if (echo[2] != IF_COND_27_36_V >> 8 || echo[3] != (IF_COND_27_36_V & 0xFF)) {
            return ERROR_SD_POWER_UP;
        }
        card->kind = SD_V2;
    }
    return 0;
}

static int start_up(struct sd_card *card)
{
    uint8_t ocr[4];

    if (sd_command(&card->link, CMD0, 0) != SD_R1_IDLE) {
        return ERROR_SD_NO_CARD;
    }
    int error = find_kind(card);
    if (!error) {
        error = leave_idle(card, card->kind == SD_V2 ? OP_COND_HCS : 0);
    }
    if (!error && card->kind == SD_V2) {
        error = command(card, CMD58, 0, SD_R1_READY);
        receive(card, ocr, sizeof ocr);
        card->has_block_addresses = !error && ocr[0] & OCR_CCS_BYTE_0;
    }
    if (!error && card->link.checks_crc) {
        error = command(card, CMD59, 1, SD_R1_READY);
    }
    return error || card->has_block_addresses ? error : command(card, CMD16, SD_BLOCK_BYTES, SD_R1_READY);
}

int sd_init(struct sd_card *card, const struct sd_port *port, bool crc)
{
    *card = (struct sd_card){.link = {port, crc}};
    if (!port->has_card()) {
        return keep(card, ERROR_SD_NO_CARD);
    }
    port->select(false);
    port->set_clock(IDLE_CLOCK_HZ);
    for (int i = 0; i < POWER_UP_BYTES; i++) {
        sd_rcvr(&card->link);
    }
    select(card);
    int error = start_up(card);
    deselect(card);
    if (error) {
        card->kind = SD_NONE;
    } else {
        port->set_clock(FAST_CLOCK_HZ);
    }
    return keep(card, error);
}

uint32_t sd_address(const struct sd_card *card, uint32_t block)
{
    return card->has_block_addresses ? block : block * SD_BLOCK_BYTES;
}

static int read_blocks(struct sd_card *card, uint32_t first, uint8_t *to, uint32_t count)
{
    int error = block_command(card, count == 1 ? CMD17 : CMD18, first);
    if (error) {
        return error;
    }
    for (uint32_t left = count; left && !error; left--, to += SD_BLOCK_BYTES) {
        error = sd_rcvr_block(&card->link, to, SD_BLOCK_BYTES);
    }
    if (count > 1) {
        int stop_error = sd_stop_reading(&card->link);
        error = error ? error : stop_error;
    }
    return error;
}

int sd_read(struct sd_card *card, uint32_t first, uint8_t *to, uint32_t count)
{
    select(card);
    int error = read_blocks(card, first, to, count);
    deselect(card);
    return keep(card, error);
}

/* Whether the answer to a block was that the card does not take it. */
static bool is_refusal(int error)
{
    return error == ERROR_SD_CRC || error == ERROR_SD_WRITE;
}

/* Ends a write of more than one block, which waits for more blocks after an error just the same. For an SD card
   that refused one, CMD12 ends the write (7.3.3.1); an MMC knows the token only. */
static int stop_writing(struct sd_card *card, const uint8_t *last_block, int error)
{
    if (card->kind == SD_MMC || !is_refusal(error)) {
        return sd_xmit_stop(&card->link, last_block);
    }
    int response = sd_command(&card->link, CMD12, 0);
    return response < 0 ? response : sd_wait_ready(&card->link);
}

static int write_blocks(struct sd_card *card, uint32_t first, const uint8_t *from, uint32_t count)
{
    int error = card->kind == SD_MMC ? 0 : app_command(card, ACMD23, count, SD_R1_READY);
    if (!error) {
        error = block_command(card, CMD25, first);
    }
    if (error) {
        return error;
    }
    for (uint32_t left = count; left && !error; left--, from += SD_BLOCK_BYTES) {
        error = sd_xmit_block(&card->link, from, SD_TOKEN_MULTIPLE_BLOCK);
    }
    int stop_error = stop_writing(card, from - SD_BLOCK_BYTES, error);
    return error ? error : stop_error;
}

static int write_block(struct sd_card *card, uint32_t block, const uint8_t *from)
{
    int error = block_command(card, CMD24, block);

    return error ? error : sd_xmit_block(&card->link, from, SD_TOKEN_BLOCK);
}

int sd_write(struct sd_card *card, uint32_t first, const uint8_t *from, uint32_t count)
{
    select(card);
    int error = count == 1 ? write_block(card, first, from) : write_blocks(card, first, from, count);
    deselect(card);
    return keep(card, error);
}

int sd_sync(struct sd_card *card)
{
    select(card);
    int error = sd_wait_ready(&card->link);
    deselect(card);
    return keep(card, error);
}

int sd_erase(struct sd_card *card, uint32_t first, uint32_t last)
{
    uint32_t start = tick_ms();

    select(card);
    int error = block_command(card, CMD32, first);
    if (!error) {
        error = block_command(card, CMD33, last);
    }
    if (!error) {
        error = command(card, CMD38, 0, SD_R1_READY);
    }
    if (!error) {
        do {
            error = sd_wait_ready(&card->link);
        } while (error && tick_ms() - start < ERASE_LIMIT_MS);
    }
    deselect(card);
    return keep(card, error);
}

int sd_begin(struct sd_card *card, uint8_t index, uint32_t block)
{
    select(card);
    return block_command(card, index, block);
}

int sd_end(struct sd_card *card, int error)
{
    deselect(card);
    return keep(card, error);
}

static int read_register(struct sd_card *card, bool is_app, uint8_t index, uint8_t *to, uint32_t bytes)
{
    select(card);
    int error = is_app ? app_command(card, index, 0, SD_R1_READY) : command(card, index, 0, SD_R1_READY);
    if (!error && is_app) {
        sd_rcvr(&card->link); /* its answer has a second byte: R2 */
    }
    if (!error) {
        error = sd_rcvr_block(&card->link, to, bytes);
    }
    deselect(card);
    return keep(card, error);
}

int sd_read_csd(struct sd_card *card, uint8_t csd[SD_CSD_BYTES])
{
    return read_register(card, false, CMD9, csd, SD_CSD_BYTES);
}

int sd_read_status(struct sd_card *card, uint8_t status[SD_STATUS_BYTES])
{
    return read_register(card, true, ACMD13, status, SD_STATUS_BYTES);
}

void sd_print_error(const struct sd_card *card)
{
    console_print("%s", error_text(card->error));
    if (card->error == ERROR_SD_COMMAND) {
        console_print(": CMD%u, R1 0x%02x", card->refused, card->response);
    }
}
