/* Standard mode, words moved by the processor: erases a subsector, programs a page, reads it and the next one back. */
#include "board.h"
#include "console.h"
#include "error.h"
#include "exit.h"
#include "spi_nor.h"

#define ADDRESS 0x123000u
#ifndef GOES_ON
#define GOES_ON 0 /* 1: it never ends */
#endif

static uint32_t frame[SPI_NOR_FRAME_LIMIT_WORDS], received[SPI_NOR_FRAME_LIMIT_WORDS];

static uint8_t pattern(uint32_t i)
{
    return (uint8_t)(i * 7 + 3);
}

static int program_page(const struct spi_nor *flash)
{
    spi_nor_set_program_header(frame, &spi_nor_standard, ADDRESS);
    for (uint32_t i = 0; i < SPI_NOR_PAGE_BYTES; i++) {
        frame[1 + SPI_NOR_ADDRESS_BYTES + i] = pattern(i);
    }
    int error = spi_nor_write_enable(flash);
    if (error) {
        return error;
    }
    error = spi_nor_send_program(flash, frame);
    return error ? error : spi_nor_wait_ready(flash, 0, 10000);
}

/* Gives how many bytes of the page at `address` are other than programmed, or an error. */
static int count_mismatches(const struct spi_nor *flash, uint32_t address, int programmed)
{
    const uint32_t *page = received + spi_nor_read_header_words(&spi_nor_standard);
    int mismatches = 0;

    spi_nor_set_read_header(frame, &spi_nor_standard, address);
    int error = spi_nor_read_page(flash, &spi_nor_standard, frame, received);
    if (error) {
        return error;
    }
    for (uint32_t i = 0; i < SPI_NOR_PAGE_BYTES; i++) {
        mismatches += (page[i] & 0xFF) != (programmed ? pattern(i) : 0xFF);
    }
    return mismatches;
}

static int test(void)
{
    struct xlnx_axi_quad_spi spi;
    struct spi_nor flash;

    int error = xlnx_axi_quad_spi_init(&spi, BOARD_SPI_BASE, 0, 0);
    if (error) {
        return error;
    }
    error = spi_nor_init(&flash, &spi);
    if (error) {
        return error;
    }
    error = spi_nor_start_subsector_erase(&flash, ADDRESS);
    if (error) {
        return error;
    }
    error = spi_nor_wait_ready(&flash, 1000, 1000000);
    if (error) {
        return error;
    }
    error = program_page(&flash);
    if (error) {
        return error;
    }
    int here = count_mismatches(&flash, ADDRESS, 1);
    int behind = count_mismatches(&flash, ADDRESS + SPI_NOR_PAGE_BYTES, 0);
    console_print("FIFO %u words, %d and %d bytes wrong\n", spi.fifo_words, here, behind);
    return here || behind ? ERROR_WRONG_PART : 0;
}

int main(void)
{
    int error = test();
    console_print("flash read back: %s\n", error_text(error));
    console_flush();
    while (GOES_ON) {
        __asm__ volatile("");
    }
    return error ? EXIT_FAILED : EXIT_OK;
}
