/* The order in which FatFs R0.06 wrote a file's sectors, under a later FatFs.
 *
 * A file has a sector buffer for what is no whole sector. Before whole sectors go straight from the caller's memory to
 * the card, later versions flush that buffer; R0.06 flushed it only when it needed it for another sector. Calls of 768
 * bytes wrote 0 2 3 1 5 6 4 ... there, and write 0 1 2 3 4 ... now. Here the flush of a watched file's buffer is held
 * back until R0.06 would have done it. */
#ifndef WRITE_ORDER_H
#define WRITE_ORDER_H

#include "fatfs.h"

/* Holds back the flushes of this open file from now on. One file at a time. */
void write_order_watch(const FIL *file);

/* After each f_write to the watched file: what R0.06 would have flushed by now goes out. */
FRESULT write_order_after_write(void);

/* Before f_close of the watched file: what is held goes out, and nothing is held back any more. */
FRESULT write_order_unwatch(void);

/* By disk.c: a write, which is held if it flushes the watched file's buffer; the actions before a read; and the end of
   all waiting. Each returns the result of the held write if that is carried out. */
DRESULT write_order_write(BYTE drive, const BYTE *from, LBA_t sector, UINT count);
DRESULT write_order_release_overlap(BYTE drive, LBA_t sector, UINT count);
DRESULT write_order_release(void);

#endif
