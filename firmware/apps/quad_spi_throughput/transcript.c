#include "transcript.h"

#include "console.h"

#define PAGE_BYTES 256u
#define MB_BYTES 1048576u

/* "1 MB" for the note's 4096 pages; a size that is not a whole number of MB is printed in bytes. */
static void print_size(uint32_t pages, const char *space)
{
    uint32_t bytes = pages * PAGE_BYTES;

    if (bytes % MB_BYTES == 0) {
        console_print("%u%sMB", bytes / MB_BYTES, space);
    } else {
        console_print("%u%sB", bytes, space);
    }
}

void transcript_open(const struct transcript *text)
{
    console_print("*****\n");
    console_print("System Performance for AXI Quad SPI Configured in %s mode\n\n", text->mode);
    console_print("Entire Chip erase takes more time ... Please wait\n\n");
}

void transcript_erased(void)
{
    console_print("Chip Erased\n\n");
}

void transcript_write_started(const struct transcript *text, uint32_t pages)
{
    console_print("Write started for %u pages, Test Bytes : 0x%02x & 0x%02x\n", pages, text->bytes[0],
                  text->bytes[1]);
}

void transcript_read_started(uint32_t pages)
{
    console_print("Read started for %u pages\n", pages);
}

/* Whole MB/s, cut, as in the note; MB is 2^20 bytes. */
static uint32_t throughput(uint32_t pages, uint32_t time_us)
{
    return time_us ? (uint32_t)((uint64_t)pages * PAGE_BYTES * 1000000u / MB_BYTES / time_us) : 0;
}

void transcript_time(const struct transcript *text, const char *what, uint32_t pages, uint32_t time_us)
{
    console_print("%s Time Taken %s ", text->mark, text->taken_for);
    print_size(pages, " ");
    console_print(" Data %s by QSPI : %u us%s%s\n", what, time_us, text->gap, text->mark);
    console_print("Throughput in MB/sec : %u\n\n", throughput(pages, time_us));
}

static void print_verdict(const struct transcript *text, uint32_t pages, const char *verdict)
{
    console_print("%s %s Mode ", text->access, text->mode);
    print_size(pages, "");
    console_print(" Data Transfer Test %s\n\n", verdict);
}

void transcript_close(const struct transcript *text, uint32_t pages, uint32_t mismatches)
{
    if (mismatches) {
        console_print("Data Comparison ... %u bytes differ\n\n", mismatches);
    } else {
        console_print("Data Comparison ... OK\n\n");
    }
    print_verdict(text, pages, mismatches ? "FAILED" : "PASSED");
}

void transcript_failed(const struct transcript *text, const char *step, const char *reason)
{
    console_print("%s: %s\n", step, reason);
    console_print("%s %s Mode Data Transfer Test FAILED\n", text->access, text->mode);
}
