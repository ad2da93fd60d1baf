/* Blocks of the card that may be overwritten: those of a file, so nothing else on the card is touched. */
#ifndef AREA_H
#define AREA_H

#include "drive.h"

#define FILE_NAME "PROBE.BIN"

/* The file is longer than what is used of it: its first clusters may lie scattered. */
#define AREA_BLOCKS 8192u
#define AREA_LEAST_BLOCKS 512u
#define AREA_FILE_BYTES (AREA_BLOCKS * SD_BLOCK_BYTES * 3 / 2)

struct area {
    uint32_t first; /* block of the card */
    uint32_t blocks;
};

/* Makes the file and gives the longest run of blocks that it has in one piece, AREA_LEAST_BLOCKS to AREA_BLOCKS.
   FR_DENIED if the disk is too full for the file, or too fragmented. */
FRESULT area_make(struct area *area);

#endif
