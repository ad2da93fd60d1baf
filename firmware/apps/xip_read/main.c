/* Reading through the Quad SPI core in XIP configuration (PG153, XIP Mode): the flash is memory, and the core makes
 * a flash read command of each AXI4 read. Nothing can be written in this configuration: the flash is as it was
 * found. An erased one must read as ones; other contents can't be checked, only reported by their checksum. */
#include "board.h"
#include "console.h"
#include "error.h"
#include "exit.h"
#include "mmio.h"
#include "result.h"
#include "section.h"
#include "ticks.h"
#include "xlnx_axi_cdma.h"
#include "xlnx_axi_timer.h"

#include <stdbool.h>

#define QUAD_SPI_XIP_CR 0x60u
#define QUAD_SPI_XIP_SR 0x64u
#define QUAD_SPI_XIP_CR_MODE_0 0u /* CPOL = CPHA = 0 */
#define QUAD_SPI_XIP_SR_CPOL_CPHA_ERROR (1u << 3)
#define QUAD_SPI_XIP_SR_TRANSACTION_ERROR (1u << 4)

#define WORDS (APP_BYTES / sizeof(uint32_t))

_Static_assert(APP_BYTES % sizeof(uint32_t) == 0 && APP_BYTES <= BOARD_XIP_BYTES, "whole words inside the window");

struct contents {
    uint32_t checksum; /* of all words in order: rotated left by one, plus the word */
    bool erased;
};

static struct contents summarise(const volatile uint32_t *words)
{
    uint32_t checksum = 0, all = UINT32_MAX;

    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t word = words[i];
        checksum = (checksum << 1 | checksum >> 31) + word;
        all &= word;
    }
    return (struct contents){checksum, all == UINT32_MAX};
}

#if APP_ACCESS_DMA
static uint32_t copy[WORDS] BOARD_DMA_TARGET;

/* The engine copies the window to DDR with incrementing bursts. */
static SECTION int read_window(const struct xlnx_axi_cdma *dma)
{
    xlnx_axi_cdma_set_addresses(dma, BOARD_XIP_BASE, (uintptr_t)copy);
    xlnx_axi_cdma_start(dma, APP_BYTES);
    return xlnx_axi_cdma_wait(dma);
}

static int time_reading(const struct xlnx_axi_timer *timer, struct contents *contents, uint32_t *clocks)
{
    struct xlnx_axi_cdma dma;
    int error = xlnx_axi_cdma_init(&dma, BOARD_DMA0_BASE, XLNX_AXI_CDMA_KEYHOLE_NONE);
    if (error) {
        return error;
    }
    uint32_t start = xlnx_axi_timer_now(timer);
    error = read_window(&dma);
    *clocks = xlnx_axi_timer_now(timer) - start;
    if (!error) {
        *contents = summarise(copy);
    }
    return error;
}
#else
/* The processor loads word after word and sums up as it goes. */
static SECTION struct contents read_window(void)
{
    return summarise((const volatile uint32_t *)BOARD_XIP_BASE);
}

static int time_reading(const struct xlnx_axi_timer *timer, struct contents *contents, uint32_t *clocks)
{
    uint32_t start = xlnx_axi_timer_now(timer);
    *contents = read_window();
    *clocks = xlnx_axi_timer_now(timer) - start;
    return 0;
}
#endif

int main(void)
{
    struct xlnx_axi_timer timer;
    struct contents contents;
    uint32_t clocks;

    xlnx_axi_timer_start_free_running(&timer, BOARD_TIMER_BASE);
    mmio_write(BOARD_SPI_BASE, QUAD_SPI_XIP_CR, QUAD_SPI_XIP_CR_MODE_0);
    console_print("System Performance for AXI Quad SPI Configured in XIP mode\n\n");
    console_print("Read started for %u bytes\n", (uint32_t)APP_BYTES);

    int error = time_reading(&timer, &contents, &clocks);
    uint32_t status = mmio_read(BOARD_SPI_BASE, QUAD_SPI_XIP_SR);
    if (error || status & (QUAD_SPI_XIP_SR_CPOL_CPHA_ERROR | QUAD_SPI_XIP_SR_TRANSACTION_ERROR)) {
        console_print("Read: %s, XIP status 0x%02x\n", error_text(error), status);
        return EXIT_FAILED;
    }
    uint32_t read_us = (uint32_t)US_OF_TICKS(clocks, BOARD_AXI_HZ);
    console_print("Time Taken for %u bytes Data Read by XIP : %u us\n\n", (uint32_t)APP_BYTES, read_us);
    if (contents.erased) {
        console_print("Data Comparison with an erased flash ... OK\n");
    } else {
        console_print("Data Comparison skipped: the flash is not erased, and XIP can't write. Checksum 0x%08x\n",
                      contents.checksum);
    }
    result_number("bytes", "bytes", APP_BYTES);
    result_number("read_time", "us", read_us);
    result_number("checksum", "sum", contents.checksum);
    return EXIT_OK;
}
