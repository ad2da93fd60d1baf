/* The SD driver against a card in software, which prints its input: "index:crc" of each command, and tokens in
 * hexadecimal. The driver's results follow. */
#include "altera_timer.h"
#include "console.h"
#include "error.h"
#include "sd_card.h"
#include "string.h"

#define DATA_RESPONSE_ACCEPTED 0xE5
#define DATA_RESPONSE_CRC_ERROR 0xEB
#define R1_IDLE_ILLEGAL 0x05

enum kind { HIGH_CAPACITY, STANDARD, MMC };

static struct {
    enum kind kind;
    uint32_t refused_block; /* counted from 1 within a write; 0: no block */
    bool is_dead;           /* the line has this level from now on, whatever is sent */
    uint8_t dead_level;
    uint8_t frame[6];
    uint32_t frame_bytes;
    bool is_writing;
    uint32_t blocks;
    uint32_t data_bytes; /* of a block under way: those that are to come */
    uint8_t reply[8];
    uint32_t reply_bytes;
    uint32_t replied;
} card;

static void reply(const void *bytes, uint32_t count)
{
    memcpy(card.reply, bytes, count);
    card.reply_bytes = count;
    card.replied = 0;
}

static void answer(uint8_t index)
{
    static const uint8_t echo[] = {0xFF, 0x01, 0x00, 0x00, 0x01, 0xAA};
    bool is_mmc = card.kind == MMC;
    uint8_t ocr[] = {0xFF, 0x00, card.kind == HIGH_CAPACITY ? 0xC0 : 0x80, 0xFF, 0x80, 0x00};
    uint8_t r1[] = {0xFF, 0x00};

    switch (index) {
    case 0: r1[1] = SD_R1_IDLE; break;
    case 8: r1[1] = R1_IDLE_ILLEGAL; break;
    case 41:
    case 55: r1[1] = is_mmc ? R1_IDLE_ILLEGAL : SD_R1_READY; break;
    default: break;
    }
    if (index == 8 && !is_mmc) {
        reply(echo, sizeof echo);
    } else if (index == 58) {
        reply(ocr, sizeof ocr);
    } else {
        reply(r1, sizeof r1);
    }
}

static void take_command(void)
{
    uint8_t index = card.frame[0] & 0x3F;

    console_print(" %u:%02x", index, card.frame[5]);
    card.frame_bytes = 0;
    card.is_writing = index == 25;
    card.blocks = 0;
    answer(index);
}

static void take_data(void)
{
    if (--card.data_bytes == 0) {
        uint8_t response = ++card.blocks == card.refused_block ? DATA_RESPONSE_CRC_ERROR : DATA_RESPONSE_ACCEPTED;
        reply(&response, 1);
    }
}

static void take(uint8_t byte)
{
    if (card.data_bytes) {
        take_data();
    } else if (card.frame_bytes || (byte & 0xC0) == 0x40) {
        card.frame[card.frame_bytes++] = byte;
        if (card.frame_bytes == sizeof card.frame) {
            take_command();
        }
    } else if (card.is_writing && byte != 0xFF) {
        console_print(" %02x", byte);
        card.data_bytes = byte == SD_TOKEN_MULTIPLE_BLOCK ? SD_BLOCK_BYTES + 2 : 0;
        card.is_writing = byte != SD_TOKEN_STOP;
    }
}

static uint8_t exchange(uint8_t byte)
{
    if (card.is_dead) {
        return card.dead_level;
    }
    uint8_t received = card.replied < card.reply_bytes ? card.reply[card.replied++] : 0xFF;
    take(byte);
    return received;
}

static void select(bool active)
{
    (void)active;
}

static void set_clock(uint32_t hz)
{
    (void)hz;
}

static bool yes(void)
{
    return true;
}

static const struct sd_port port = {exchange, select, set_clock, yes, yes};
static uint8_t data[4 * SD_BLOCK_BYTES];

static void print_error(int error)
{
    console_print(" = %s\n", error ? error_text(error) : "ok");
}

static void try_card(enum kind kind, const char *name, struct sd_card *sd)
{
    memset(&card, 0, sizeof card);
    card.kind = kind;
    console_print("%s:", name);
    print_error(sd_init(sd, &port, true));
    card.refused_block = 2;
    console_print("write, second block refused:");
    print_error(sd_write(sd, 4, data, 4));
    card.refused_block = 0;
    console_print("write:");
    print_error(sd_write(sd, 4, data, 2));
    console_print("read block 2^23:");
    print_error(sd_read(sd, 1u << 23, data, 1));
}

/* A line that stays at one level, from the start and from then on. */
static void try_dead_line(uint8_t level)
{
    struct sd_card sd;

    console_print("all bytes %02x:", level);
    memset(&card, 0, sizeof card);
    card.is_dead = true;
    card.dead_level = level;
    print_error(sd_init(&sd, &port, false));
    card.is_dead = false;
    console_print("up first:");
    print_error(sd_init(&sd, &port, false));
    card.is_dead = true;
    console_print("read");
    print_error(sd_read(&sd, 0, data, 2));
    console_print("write");
    print_error(sd_write(&sd, 0, data, 2));
}

int main(void)
{
    struct sd_card sd;

    tick_start();
    console_print("CRC16 %04x", sd_crc16((const uint8_t *)"123456789", 9));
    memset(data, 0xFF, sizeof data);
    console_print(" %04x\n", sd_crc16(data, SD_BLOCK_BYTES));
    try_card(HIGH_CAPACITY, "SDHC", &sd);
    try_card(STANDARD, "SDSC", &sd);
    try_card(MMC, "MMC", &sd);
    try_dead_line(0x00);
    try_dead_line(0xFF);
    return 0;
}
