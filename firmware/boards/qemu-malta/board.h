/* QEMU's MIPS Malta board (docs/system/target-mips in QEMU); only its memory is used. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "qemu-malta"

/* As the Ben NanoNote's; QEMU has no caches, and takes operations on them for nothing. */
#define BOARD_CACHE_BYTES 16384
#define BOARD_CACHE_LINE_BYTES 32

#endif
