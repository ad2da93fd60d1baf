/* The order in which FatFs writes a file's sectors to a disk in memory, as the card would get it: a line for each size
 * of a call, "<order> <size>: first[+more] ...", sectors counted from the file's first. */
#include "console.h"
#include "disk.h"
#include "string.h"
#include "write_order.h"

/* FAT12: a boot sector, two FATs and the root directory of a sector each, then clusters of 8 sectors. */
#define DISK_SECTORS 256u
#define FIRST_DATA_SECTOR 4u

static BYTE disk[DISK_SECTORS][FF_MAX_SS];
static BYTE data[8192];
static bool is_logging;

static void format(void)
{
    static const BYTE boot[] = {
        0xEB, 0x3C, 0x90, 'T', 'E', 'S', 'T', ' ', ' ', ' ', ' ',
        0x00, 0x02, 8, 1, 0, 2, 16, 0, DISK_SECTORS & 0xFF, DISK_SECTORS >> 8, 0xF8, 1, 0,
    };
    memset(disk, 0, sizeof disk);
    memcpy(disk[0], boot, sizeof boot);
    disk[0][510] = 0x55;
    disk[0][511] = 0xAA;
    memcpy(disk[1], "\xF8\xFF\xFF", 3);
    memcpy(disk[2], "\xF8\xFF\xFF", 3);
}

DSTATUS disk_initialize(BYTE drive)
{
    (void)drive;
    return 0;
}

DSTATUS disk_status(BYTE drive)
{
    (void)drive;
    return 0;
}

DRESULT disk_ioctl(BYTE drive, BYTE request, void *value)
{
    (void)drive;
    (void)request;
    (void)value;
    return write_order_release();
}

DRESULT disk_read(BYTE drive, BYTE *to, LBA_t sector, UINT count)
{
    DRESULT result = write_order_release_overlap(drive, sector, count);

    memcpy(to, disk[sector], count * FF_MAX_SS);
    return result;
}

DRESULT disk_write_through(BYTE drive, const BYTE *from, LBA_t sector, UINT count)
{
    (void)drive;
    if (is_logging && sector >= FIRST_DATA_SECTOR) {
        console_print(count > 1 ? " %u+%u" : " %u", sector - FIRST_DATA_SECTOR, count - 1);
    }
    memcpy(disk[sector], from, count * FF_MAX_SS);
    return RES_OK;
}

DRESULT disk_write(BYTE drive, const BYTE *from, LBA_t sector, UINT count)
{
    return write_order_write(drive, from, sector, count);
}

static bool is_kept(uint32_t bytes)
{
    return !memcmp(disk[FIRST_DATA_SECTOR], data, bytes);
}

static bool write_file(bool as_r006, uint32_t size)
{
    static FATFS volume;
    static FIL file;
    uint32_t written = 0;
    UINT now;
    bool is_good;

    format();
    is_good = f_mount(&volume, "0:", 1) == FR_OK && f_open(&file, "0:A.BIN", FA_WRITE | FA_CREATE_ALWAYS) == FR_OK;
    if (as_r006) {
        write_order_watch(&file);
    }
    console_print("%s %u:", as_r006 ? "r006" : "current", size);
    is_logging = true;
    for (; is_good && written < sizeof data / 2; written += now) {
        is_good = f_write(&file, data + written, size, &now) == FR_OK && write_order_after_write() == FR_OK;
    }
    console_print(" |");
    is_good = is_good && write_order_unwatch() == FR_OK && f_close(&file) == FR_OK;
    console_print("\n");
    is_logging = false;
    return is_good && is_kept(written);
}

int main(void)
{
    static const uint32_t sizes[] = {64, 256, 512, 768, 1024, 1280, 1636, 2048, 1000};
    bool is_good = true;

    for (uint32_t i = 0; i < sizeof data; i++) {
        data[i] = (BYTE)(i * 7 + i / 256);
    }
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        is_good = write_file(true, sizes[i]) && write_file(false, sizes[i]) && is_good;
    }
    return is_good ? 0 : 1;
}
