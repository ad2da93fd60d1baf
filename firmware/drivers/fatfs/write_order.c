#include "write_order.h"

#include "disk.h"

#include <string.h>

static const FIL *watched;

/* The file object's buffer is used again before its old contents are written. */
static struct {
    bool is_valid;
    BYTE drive;
    LBA_t sector;
    BYTE data[FF_MAX_SS];
} held;

void write_order_watch(const FIL *file)
{
    watched = file;
}

DRESULT write_order_release(void)
{
    if (!held.is_valid) {
        return RES_OK;
    }
    held.is_valid = false;
    return disk_write_through(held.drive, held.data, held.sector, 1);
}

DRESULT write_order_release_overlap(BYTE drive, LBA_t sector, UINT count)
{
    bool overlaps = held.is_valid && drive == held.drive && held.sector - sector < count;

    return overlaps ? write_order_release() : RES_OK;
}

DRESULT write_order_write(BYTE drive, const BYTE *from, LBA_t sector, UINT count)
{
    bool is_flush = watched && from == watched->buf && count == 1;
    DRESULT result = is_flush ? write_order_release() : write_order_release_overlap(drive, sector, count);

    if (result != RES_OK || !is_flush) {
        return result == RES_OK ? disk_write_through(drive, from, sector, count) : result;
    }
    held.is_valid = true;
    held.drive = drive;
    held.sector = sector;
    memcpy(held.data, from, FF_MAX_SS);
    return RES_OK;
}

FRESULT write_order_after_write(void)
{
    /* The buffer was taken for another sector: R0.06 flushed it then. */
    bool is_due = watched && held.is_valid && watched->sect != held.sector;

    return is_due && write_order_release() != RES_OK ? FR_DISK_ERR : FR_OK;
}

FRESULT write_order_unwatch(void)
{
    watched = 0;
    return write_order_release() == RES_OK ? FR_OK : FR_DISK_ERR;
}
