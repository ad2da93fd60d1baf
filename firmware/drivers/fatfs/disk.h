/* The drives below FatFs: SD cards. FatFs's own interface to them is <diskio.h>. */
#ifndef DISK_H
#define DISK_H

#include "fatfs.h"
#include "sd_card.h"

#define DISK_MMC 0 /* the card on mmc0, "0:" */
#define DISK_SPI 1 /* the card on spi0, "1:" */

/* Whether cards initialised from now on check CRCs; not at first. */
void disk_use_crc(bool on);

/* The card of a drive, for what FatFs does not do and for messages. */
struct sd_card *disk_card(BYTE drive);

/* disk_write without write_order.h in between: the sectors go to the card now. */
DRESULT disk_write_through(BYTE drive, const BYTE *from, LBA_t sector, UINT count);

/* Prints the name and number of a result of FatFs: "FR_DISK_ERR (1)". */
void disk_print_result(FRESULT result);

/* Prints what a drive's card said when it last failed, "; card: timed out waiting for ready"; nothing if it never
 * did. */
void disk_print_card_error(BYTE drive);

#endif
