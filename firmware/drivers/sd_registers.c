/* What CSD and SD status say (SD Physical Layer Simplified Specification 5.3, 4.10.2). */
#include "sd_card.h"

#define CSD_BITS (8 * SD_CSD_BYTES)
#define STATUS_BITS (8 * SD_STATUS_BYTES)

/* Bits `high` to `low` of a register of `bits` bits, as the specification numbers them. */
static uint32_t field(const uint8_t *data, uint32_t bits, uint32_t high, uint32_t low)
{
    uint32_t value = 0;

    for (uint32_t bit = high + 1; bit-- > low;) {
        uint32_t position = bits - 1 - bit;
        value = value << 1 | ((data[position / 8] >> (7 - position % 8)) & 1);
    }
    return value;
}

static uint32_t csd_field(const uint8_t *csd, uint32_t high, uint32_t low)
{
    return field(csd, CSD_BITS, high, low);
}

int sd_read_block_count(struct sd_card *card, uint32_t *blocks)
{
    uint8_t csd[SD_CSD_BYTES];
    int error = sd_read_csd(card, csd);
    if (error) {
        return error;
    }
    if (card->kind != SD_MMC && csd_field(csd, 127, 126) == 1) {
        *blocks = (csd_field(csd, 69, 48) + 1) * 1024; /* version 2: C_SIZE + 1 units of 512 KiB */
        return 0;
    }
    uint32_t size = csd_field(csd, 73, 62) + 1;
    uint32_t mult_log2 = csd_field(csd, 49, 47) + 2;
    uint32_t block_log2 = csd_field(csd, 83, 80); /* READ_BL_LEN: 9 to 11 */
    *blocks = size << (mult_log2 + block_log2 - 9);
    return 0;
}

/* AU_SIZE in units of 16 KiB; 0 is "not defined". */
static const uint16_t au_size_16k[16] = {1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024, 1536, 2048, 4096};

int sd_read_erase_blocks(struct sd_card *card, uint32_t *blocks)
{
    if (card->kind == SD_V2) {
        uint8_t status[SD_STATUS_BYTES];
        int error = sd_read_status(card, status);
        if (!error) {
            *blocks = 32u * au_size_16k[field(status, STATUS_BITS, 431, 428)];
        }
        return error;
    }
    uint8_t csd[SD_CSD_BYTES];
    int error = sd_read_csd(card, csd);
    if (error) {
        return error;
    }
    uint32_t sector = card->kind == SD_MMC
                          ? (csd_field(csd, 46, 42) + 1) * (csd_field(csd, 41, 37) + 1) /* ERASE_GRP_SIZE, _MULT */
                          : csd_field(csd, 45, 39) + 1;                                 /* SECTOR_SIZE */
    *blocks = sector << csd_field(csd, 25, 22) >> 9;
    return 0;
}
