#include "disk.h"

#include "console.h"
#include "error.h"
#include "write_order.h"

static const struct sd_port *const ports[FF_VOLUMES] = {
    [DISK_MMC] = &sd_port_avalonif,
    [DISK_SPI] = &sd_port_altr_spi,
};
static struct sd_card cards[FF_VOLUMES];
static bool uses_crc;

void disk_use_crc(bool on)
{
    uses_crc = on;
}

struct sd_card *disk_card(BYTE drive)
{
    return &cards[drive];
}

DSTATUS disk_status(BYTE drive)
{
    if (drive >= FF_VOLUMES) {
        return STA_NOINIT;
    }
    DSTATUS status = 0;
    if (!ports[drive]->has_card()) {
        status |= STA_NODISK | STA_NOINIT;
        cards[drive].kind = SD_NONE;
        cards[drive].error = ERROR_SD_NO_CARD;
    } else if (ports[drive]->is_protected()) {
        status |= STA_PROTECT;
    }
    return cards[drive].kind == SD_NONE ? status | STA_NOINIT : status;
}

DSTATUS disk_initialize(BYTE drive)
{
    if (drive < FF_VOLUMES) {
        sd_init(&cards[drive], ports[drive], uses_crc);
    }
    return disk_status(drive);
}

static DRESULT check(BYTE drive, UINT count)
{
    if (drive >= FF_VOLUMES || !count) {
        return RES_PARERR;
    }
    return disk_status(drive) & STA_NOINIT ? RES_NOTRDY : RES_OK;
}

DRESULT disk_read(BYTE drive, BYTE *to, LBA_t sector, UINT count)
{
    DRESULT result = check(drive, count);
    if (result == RES_OK) {
        result = write_order_release_overlap(drive, sector, count);
    }
    if (result == RES_OK && sd_read(&cards[drive], sector, to, count)) {
        result = RES_ERROR;
    }
    return result;
}

DRESULT disk_write_through(BYTE drive, const BYTE *from, LBA_t sector, UINT count)
{
    DRESULT result = check(drive, count);
    if (result == RES_OK && disk_status(drive) & STA_PROTECT) {
        result = RES_WRPRT;
    }
    if (result == RES_OK && sd_write(&cards[drive], sector, from, count)) {
        result = RES_ERROR;
    }
    return result;
}

DRESULT disk_write(BYTE drive, const BYTE *from, LBA_t sector, UINT count)
{
    return write_order_write(drive, from, sector, count);
}

static DRESULT sync(BYTE drive)
{
    DRESULT result = write_order_release();

    return result == RES_OK && sd_sync(&cards[drive]) ? RES_ERROR : result;
}

static int ioctl(struct sd_card *card, BYTE request, void *value)
{
    const LBA_t *range = value;

    switch (request) {
    case GET_SECTOR_COUNT: return sd_read_block_count(card, value);
    case GET_BLOCK_SIZE: return sd_read_erase_blocks(card, value);
    default: return sd_erase(card, range[0], range[1]);
    }
}

DRESULT disk_ioctl(BYTE drive, BYTE request, void *value)
{
    DRESULT result = check(drive, 1);
    if (result != RES_OK) {
        return result;
    }
    switch (request) {
    case CTRL_SYNC: return sync(drive);
    case GET_SECTOR_COUNT:
    case GET_BLOCK_SIZE:
    case CTRL_TRIM: return ioctl(&cards[drive], request, value) ? RES_ERROR : RES_OK;
    default: return RES_PARERR;
    }
}

static const char *const result_names[] = {
    "FR_OK",
    "FR_DISK_ERR",
    "FR_INT_ERR",
    "FR_NOT_READY",
    "FR_NO_FILE",
    "FR_NO_PATH",
    "FR_INVALID_NAME",
    "FR_DENIED",
    "FR_EXIST",
    "FR_INVALID_OBJECT",
    "FR_WRITE_PROTECTED",
    "FR_INVALID_DRIVE",
    "FR_NOT_ENABLED",
    "FR_NO_FILESYSTEM",
    "FR_MKFS_ABORTED",
    "FR_TIMEOUT",
    "FR_LOCKED",
    "FR_NOT_ENOUGH_CORE",
    "FR_TOO_MANY_OPEN_FILES",
    "FR_INVALID_PARAMETER",
};

void disk_print_result(FRESULT result)
{
    console_print("%s (%u)", result_names[result], (uint32_t)result);
}

void disk_print_card_error(BYTE drive)
{
    if (cards[drive].error) {
        console_print("; card: ");
        sd_print_error(&cards[drive]);
    }
}
