/* Throughput of the AXI Quad SPI core, as XAPP797 measures it: erase the chip, write pages, read them, compare.
 *
 * The timed part: the transfers, not the flash's own work. A page program takes 0.5 ms (N25Q128A, AC
 * characteristics), 4096 of them 2 s, while the note has 94 ms; so its time holds, for each page, the write enable
 * and the page-program frame, and the wait for the flash lies outside. Reading holds each page's frame. */
#include "board.h"
#include "console.h"
#include "error.h"
#include "exit.h"
#include "result.h"
#include "riscv.h"
#include "section.h"
#include "spi_nor.h"
#include "ticks.h"
#include "transcript.h"
#include "trap.h"
#include "xlnx_axi_intc.h"
#include "xlnx_axi_timer.h"

#include <stdbool.h>

/* Bulk erase: 170 s typical, 250 s at most. Page program: 0.5 ms typical, 5 ms at most. */
#define ERASE_PAUSE_US 10000u
#define ERASE_LIMIT_US 300000000u
#define PROGRAM_PAUSE_US 20u
#define PROGRAM_LIMIT_US 10000u

#if APP_ACCESS_DMA
#define ACCESS "Enhanced"
#else
#define ACCESS "Legacy"
#endif

#if APP_MODE_QUAD && APP_READ_COMMAND_IO
#define MODE spi_nor_quad_io
#elif APP_MODE_QUAD
#define MODE spi_nor_quad
#elif APP_MODE_DUAL && APP_READ_COMMAND_IO
#define MODE spi_nor_dual_io
#elif APP_MODE_DUAL
#define MODE spi_nor_dual
#elif APP_MODE_STANDARD
#define MODE spi_nor_standard
#endif

#if APP_MODE_QUAD && APP_READ_COMMAND_IO
#define FRAME_WORDS SPI_NOR_QUAD_IO_FRAME_LIMIT_WORDS
#else
#define FRAME_WORDS SPI_NOR_FRAME_LIMIT_WORDS
#endif

#if APP_MODE_QUAD
static const struct transcript text = {"QUAD", ACCESS, {0x35, 0x85}, "***", "for", "   "};
#elif APP_MODE_DUAL
static const struct transcript text = {"DUAL", ACCESS, {0x60, 0x20}, "###", "For", "    "};
#elif APP_MODE_STANDARD
static const struct transcript text = {"STANDARD", ACCESS, {0x3C, 0xC3}, "+++", "for", "   "};
#endif

#if APP_TIMED_PAGE
#define TIMED_PAGE true
#else
#define TIMED_PAGE false
#endif

static struct xlnx_axi_timer timer;
static struct xlnx_axi_quad_spi spi;
static struct spi_nor flash;

/* One byte a word, as the FIFOs take them. All pages hold the same two bytes in turn. */
static uint32_t page_frame[FRAME_WORDS] BOARD_UNCACHED;
static uint32_t received[APP_PAGES][FRAME_WORDS] BOARD_DMA_TARGET;

#if APP_ACCESS_DMA
static struct xlnx_axi_cdma fill_dma, drain_dma;

static int set_up_spi(void)
{
    int error = xlnx_axi_cdma_init(&fill_dma, BOARD_DMA0_BASE, XLNX_AXI_CDMA_KEYHOLE_WRITE);
    if (error) {
        return error;
    }
    error = xlnx_axi_cdma_init(&drain_dma, BOARD_DMA1_BASE, XLNX_AXI_CDMA_KEYHOLE_READ);
    if (error) {
        return error;
    }
    return xlnx_axi_quad_spi_init(&spi, BOARD_SPI_BASE, &fill_dma, &drain_dma);
}
#else
static int set_up_spi(void)
{
    return xlnx_axi_quad_spi_init(&spi, BOARD_SPI_BASE, 0, 0);
}
#endif

#if APP_COMPLETION_INTERRUPTS
static void on_external(void)
{
    xlnx_axi_intc_serve(BOARD_INTC_BASE);
}

static void set_up_interrupts(void)
{
    trap_on_interrupt(RISCV_INTERRUPT_EXTERNAL, on_external);
    xlnx_axi_intc_init(BOARD_INTC_BASE);
    xlnx_axi_intc_connect(BOARD_INTC_BASE, BOARD_INTC_SPI_INPUT, xlnx_axi_quad_spi_interrupt, &spi);
#if APP_ACCESS_DMA
    xlnx_axi_intc_connect(BOARD_INTC_BASE, BOARD_INTC_DMA0_INPUT, xlnx_axi_cdma_interrupt, &fill_dma);
    xlnx_axi_intc_connect(BOARD_INTC_BASE, BOARD_INTC_DMA1_INPUT, xlnx_axi_cdma_interrupt, &drain_dma);
#endif
    riscv_csr_set(mie, RISCV_MIE_MEIE);
    trap_enable_interrupts();
}
#else
static void set_up_interrupts(void)
{
}
#endif

static int set_up(void)
{
    xlnx_axi_timer_start_free_running(&timer, BOARD_TIMER_BASE);
    int error = set_up_spi();
    if (error) {
        return error;
    }
    set_up_interrupts();
    return spi_nor_init(&flash, &spi);
}

static int erase_chip(void)
{
    int error = spi_nor_start_bulk_erase(&flash);

    return error ? error : spi_nor_wait_ready(&flash, ERASE_PAUSE_US, ERASE_LIMIT_US);
}

static void fill_page(uint32_t header_words)
{
    for (uint32_t i = 0; i < SPI_NOR_PAGE_BYTES; i++) {
        page_frame[header_words + i] = text.bytes[i & 1];
    }
}

#if APP_STATUS_READS_WRITES
#define STATUS_BEFORE_WRITES true
#else
#define STATUS_BEFORE_WRITES false
#endif
#if APP_STATUS_READS_READS
#define STATUS_BEFORE_READS true
#else
#define STATUS_BEFORE_READS false
#endif

/* Of a flash that is known to be ready: what it answers changes nothing. */
static int read_status(void)
{
    uint8_t status;

    return spi_nor_read_status(&flash, &status);
}

/* The part of a page write that the note times. */
static SECTION int program_page(void)
{
    int error = spi_nor_write_enable(&flash);

    if (!error && STATUS_BEFORE_WRITES) {
        error = read_status();
    }
    return error ? error : spi_nor_send_program(&flash, page_frame);
}

/* Adds up the transfers' time, and the pages' with the flash's own work. */
static int write_pages(uint64_t *transfer_clocks, uint64_t *page_clocks)
{
    fill_page(1 + SPI_NOR_ADDRESS_BYTES);
    for (uint32_t page = 0; page < APP_PAGES; page++) {
        spi_nor_set_program_header(page_frame, &MODE, page * SPI_NOR_PAGE_BYTES);

        uint32_t start = xlnx_axi_timer_now(&timer);
        int error = program_page();
        *transfer_clocks += xlnx_axi_timer_now(&timer) - start;

        if (!error) {
            error = spi_nor_wait_ready(&flash, PROGRAM_PAUSE_US, PROGRAM_LIMIT_US);
        }
        *page_clocks += xlnx_axi_timer_now(&timer) - start;
        if (error) {
            return error;
        }
    }
    return 0;
}

/* The part of a page read that the note times. */
static SECTION int read_page(uint32_t page)
{
    int error = STATUS_BEFORE_READS ? read_status() : 0;

    return error ? error : spi_nor_read_page(&flash, &MODE, page_frame, received[page]);
}

static int read_pages(uint64_t *clocks)
{
    for (uint32_t page = 0; page < APP_PAGES; page++) {
        spi_nor_set_read_header(page_frame, &MODE, page * SPI_NOR_PAGE_BYTES);

        uint32_t start = xlnx_axi_timer_now(&timer);
        int error = read_page(page);
        *clocks += xlnx_axi_timer_now(&timer) - start;

        if (error) {
            return error;
        }
    }
    return 0;
}

static uint32_t count_mismatches(void)
{
    uint32_t header = spi_nor_read_header_words(&MODE);
    uint32_t mismatches = 0;

    for (uint32_t page = 0; page < APP_PAGES; page++) {
        for (uint32_t i = 0; i < SPI_NOR_PAGE_BYTES; i++) {
            mismatches += (received[page][header + i] & 0xFF) != text.bytes[i & 1];
        }
    }
    return mismatches;
}

static int fail(const char *step, int error)
{
    transcript_failed(&text, step, error_text(error));
    return EXIT_FAILED;
}

int main(void)
{
    uint64_t transfer_clocks = 0, page_clocks = 0, read_clocks = 0;

    int error = set_up();
    if (error) {
        return fail("Set-up", error);
    }
    transcript_open(&text);
    error = erase_chip();
    if (error) {
        return fail("Chip erase", error);
    }
    transcript_erased();

    transcript_write_started(&text, APP_PAGES);
    error = write_pages(&transfer_clocks, &page_clocks);
    if (error) {
        return fail("Write", error);
    }
    uint32_t transfers_us = (uint32_t)US_OF_TICKS(transfer_clocks, BOARD_AXI_HZ);
    uint32_t pages_us = (uint32_t)US_OF_TICKS(page_clocks, BOARD_AXI_HZ);
    uint32_t write_us = TIMED_PAGE ? pages_us : transfers_us;
    transcript_time(&text, "Write", APP_PAGES, write_us);

    transcript_read_started(APP_PAGES);
    error = read_pages(&read_clocks);
    if (error) {
        return fail("Read", error);
    }
    uint32_t read_us = (uint32_t)US_OF_TICKS(read_clocks, BOARD_AXI_HZ);
    transcript_time(&text, "Read", APP_PAGES, read_us);

    uint32_t mismatches = count_mismatches();
    transcript_close(&text, APP_PAGES, mismatches);
    result_number("pages", "pages", APP_PAGES);
    result_number("write_time", "us", write_us);
    result_number("write_transfer_time", "us", transfers_us);
    result_number("write_page_time", "us", pages_us);
    result_number("read_time", "us", read_us);
    result_number("data_mismatches", "bytes", mismatches);
    return mismatches ? EXIT_FAILED : EXIT_OK;
}
