/* SPI NOR flash N25Q128A (Micron data sheet, 128Mb 3V, command table 16), extended SPI protocol, 3-byte addresses. */
#ifndef SPI_NOR_H
#define SPI_NOR_H

#include "xlnx_axi_quad_spi.h"

#include <stdint.h>

#define SPI_NOR_PAGE_BYTES 256u
#define SPI_NOR_ADDRESS_BYTES 3u
/* Command, address and at most 4 dummy bytes. */
#define SPI_NOR_HEADER_LIMIT_BYTES 8u
#define SPI_NOR_FRAME_LIMIT_WORDS (SPI_NOR_HEADER_LIMIT_BYTES + SPI_NOR_PAGE_BYTES)
/* With spi_nor_quad_io: 5 dummy bytes. */
#define SPI_NOR_QUAD_IO_FRAME_LIMIT_WORDS (SPI_NOR_FRAME_LIMIT_WORDS + 1u)

struct spi_nor {
    const struct xlnx_axi_quad_spi *spi;
};

/* How pages are read and programmed. */
struct spi_nor_mode {
    uint8_t read_command;
    /* At the width of the data: 8 dummy clocks, the part's default, are 1, 2 or 4 bytes; for EBh it is 10, 5 bytes. */
    uint8_t read_dummy_bytes;
    uint8_t program_command;
};

extern const struct spi_nor_mode spi_nor_standard; /* 0Bh, 02h */
extern const struct spi_nor_mode spi_nor_dual;     /* 3Bh, A2h: data on two lines */
extern const struct spi_nor_mode spi_nor_quad;     /* 6Bh, 32h: data on four lines */
extern const struct spi_nor_mode spi_nor_dual_io;  /* BBh, A2h: what is read, its address too on two lines */
extern const struct spi_nor_mode spi_nor_quad_io;  /* EBh, 32h: what is read, its address too on four lines */

/* Checks the part by its identification (9Fh). ERROR_WRONG_PART. */
int spi_nor_init(struct spi_nor *flash, const struct xlnx_axi_quad_spi *spi);

/* Sets the write enable latch (06h). */
int spi_nor_write_enable(const struct spi_nor *flash);

/* Reads the status register (05h). */
int spi_nor_read_status(const struct spi_nor *flash, uint8_t *status);

/* Starts the erase of the whole chip (C7h), write enable included. ERROR_NOT_ENABLED if the flash refused that. */
int spi_nor_start_bulk_erase(const struct spi_nor *flash);

/* Starts the erase of the 4 KiB that hold `address` (20h), write enable included. */
int spi_nor_start_subsector_erase(const struct spi_nor *flash, uint32_t address);

/* Polls the status register, asleep for `pause_us` (0: not) in between, until no erase or program is in progress.
   ERROR_TIMEOUT after `limit_us`. */
int spi_nor_wait_ready(const struct spi_nor *flash, uint32_t pause_us, uint32_t limit_us);

/* Words of a page's frame, one byte each. */
uint32_t spi_nor_program_words(void);
uint32_t spi_nor_read_header_words(const struct spi_nor_mode *mode);
uint32_t spi_nor_read_words(const struct spi_nor_mode *mode);

/* Puts command, address and dummy bytes in front of a frame. */
void spi_nor_set_program_header(uint32_t *frame, const struct spi_nor_mode *mode, uint32_t address);
void spi_nor_set_read_header(uint32_t *frame, const struct spi_nor_mode *mode, uint32_t address);

/* Sends a page-program frame; the flash is busy afterwards. Write enable is the caller's. */
int spi_nor_send_program(const struct spi_nor *flash, const uint32_t *frame);

/* Runs a page-read frame. `received` takes all its words; the page begins after spi_nor_read_header_words. */
int spi_nor_read_page(const struct spi_nor *flash, const struct spi_nor_mode *mode, const uint32_t *frame,
                      uint32_t *received);

#endif
