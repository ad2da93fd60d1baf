#include "area.h"

/* The cluster that holds byte `offset` of the file. */
static FRESULT cluster_at(FIL *file, uint32_t offset, uint32_t *cluster)
{
    FRESULT result =
        f_lseek(file, offset + 1); /* at a cluster's first byte, the pointer is still in the previous one */

    *cluster = file->clust;
    return result;
}

static FRESULT longest_run(FIL *file, uint32_t *first_cluster, uint32_t *clusters)
{
    uint32_t cluster_bytes = file->obj.fs->csize * SD_BLOCK_BYTES;
    uint32_t begin = 0, length = 0, previous = 0;

    *clusters = 0;
    for (uint32_t offset = 0; offset < AREA_FILE_BYTES; offset += cluster_bytes) {
        uint32_t cluster;
        FRESULT result = cluster_at(file, offset, &cluster);
        if (result != FR_OK) {
            return result;
        }
        if (!length || cluster != previous + 1) {
            begin = cluster;
            length = 0;
        }
        previous = cluster;
        length++;
        if (length > *clusters) {
            *first_cluster = begin;
            *clusters = length;
        }
    }
    return FR_OK;
}

FRESULT area_make(struct area *area)
{
    static FIL file;
    uint32_t first_cluster, clusters;

    FRESULT result = f_open(&file, DRIVE_NAME FILE_NAME, FA_READ | FA_WRITE | FA_CREATE_ALWAYS);
    if (result == FR_OK) {
        result = f_lseek(&file, AREA_FILE_BYTES); /* takes the clusters without writing them */
    }
    if (result == FR_OK && f_size(&file) != AREA_FILE_BYTES) {
        result = FR_DENIED;
    }
    if (result == FR_OK) {
        result = longest_run(&file, &first_cluster, &clusters);
    }
    if (result == FR_OK && clusters * file.obj.fs->csize < AREA_LEAST_BLOCKS) {
        result = FR_DENIED;
    }
    const FATFS *volume = file.obj.fs; /* closing forgets it */
    FRESULT close_result = f_close(&file);
    if (result == FR_OK && close_result == FR_OK) {
        area->first = volume->database + (first_cluster - 2) * volume->csize;
        area->blocks = clusters * volume->csize < AREA_BLOCKS ? clusters * volume->csize : AREA_BLOCKS;
    }
    return result == FR_OK ? close_result : result;
}
