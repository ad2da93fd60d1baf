#include "spi_nor.h"

#include "clock.h"
#include "error.h"

#define N25Q128_WRITE_ENABLE 0x06u
#define N25Q128_READ_STATUS 0x05u
#define N25Q128_READ_ID 0x9Fu
#define N25Q128_BULK_ERASE 0xC7u
#define N25Q128_SUBSECTOR_ERASE 0x20u
#define N25Q128_PAGE_PROGRAM 0x02u
#define N25Q128_DUAL_INPUT_PROGRAM 0xA2u
#define N25Q128_QUAD_INPUT_PROGRAM 0x32u
#define N25Q128_FAST_READ 0x0Bu
#define N25Q128_DUAL_OUTPUT_READ 0x3Bu
#define N25Q128_QUAD_OUTPUT_READ 0x6Bu
#define N25Q128_DUAL_IO_READ 0xBBu
#define N25Q128_QUAD_IO_READ 0xEBu

#define N25Q128_STATUS_WRITE_IN_PROGRESS (1u << 0)
#define N25Q128_STATUS_WRITE_ENABLE_LATCH (1u << 1)

#define N25Q128_MANUFACTURER 0x20u
#define N25Q128_CAPACITY 0x18u /* 2^24 bytes */

const struct spi_nor_mode spi_nor_standard = {N25Q128_FAST_READ, 1, N25Q128_PAGE_PROGRAM};
const struct spi_nor_mode spi_nor_dual = {N25Q128_DUAL_OUTPUT_READ, 2, N25Q128_DUAL_INPUT_PROGRAM};
const struct spi_nor_mode spi_nor_quad = {N25Q128_QUAD_OUTPUT_READ, 4, N25Q128_QUAD_INPUT_PROGRAM};
const struct spi_nor_mode spi_nor_dual_io = {N25Q128_DUAL_IO_READ, 2, N25Q128_DUAL_INPUT_PROGRAM};
const struct spi_nor_mode spi_nor_quad_io = {N25Q128_QUAD_IO_READ, 5, N25Q128_QUAD_INPUT_PROGRAM};

static int read_id(const struct spi_nor *flash, uint8_t id[3])
{
    const uint8_t sent[4] = {N25Q128_READ_ID};
    uint8_t received[4] = {0};
    int error = xlnx_axi_quad_spi_exchange(flash->spi, sent, received, sizeof sent);

    for (int i = 0; i < 3; i++) {
        id[i] = received[i + 1];
    }
    return error;
}

int spi_nor_init(struct spi_nor *flash, const struct xlnx_axi_quad_spi *spi)
{
    uint8_t id[3];
    int error;

    flash->spi = spi;
    error = read_id(flash, id);
    if (error) {
        return error;
    }
    return id[0] == N25Q128_MANUFACTURER && id[2] == N25Q128_CAPACITY ? 0 : ERROR_WRONG_PART;
}

int spi_nor_write_enable(const struct spi_nor *flash)
{
    const uint8_t sent[1] = {N25Q128_WRITE_ENABLE};

    return xlnx_axi_quad_spi_exchange(flash->spi, sent, 0, sizeof sent);
}

int spi_nor_read_status(const struct spi_nor *flash, uint8_t *status)
{
    const uint8_t sent[2] = {N25Q128_READ_STATUS};
    uint8_t received[2] = {0};
    int error = xlnx_axi_quad_spi_exchange(flash->spi, sent, received, sizeof sent);

    *status = received[1];
    return error;
}

static int enable_and_send(const struct spi_nor *flash, const uint8_t *frame, uint32_t bytes)
{
    uint8_t status;
    int error = spi_nor_write_enable(flash);

    if (error) {
        return error;
    }
    error = spi_nor_read_status(flash, &status);
    if (error) {
        return error;
    }
    if (!(status & N25Q128_STATUS_WRITE_ENABLE_LATCH)) {
        return ERROR_NOT_ENABLED;
    }
    return xlnx_axi_quad_spi_exchange(flash->spi, frame, 0, bytes);
}

int spi_nor_start_bulk_erase(const struct spi_nor *flash)
{
    const uint8_t frame[1] = {N25Q128_BULK_ERASE};

    return enable_and_send(flash, frame, sizeof frame);
}

int spi_nor_start_subsector_erase(const struct spi_nor *flash, uint32_t address)
{
    const uint8_t frame[4] = {N25Q128_SUBSECTOR_ERASE, (uint8_t)(address >> 16), (uint8_t)(address >> 8),
                              (uint8_t)address};

    return enable_and_send(flash, frame, sizeof frame);
}

int spi_nor_wait_ready(const struct spi_nor *flash, uint32_t pause_us, uint32_t limit_us)
{
    uint64_t end = clock_ticks() + clock_ticks_of_us(limit_us);

    for (;;) {
        uint8_t status;
        int error = spi_nor_read_status(flash, &status);
        if (error) {
            return error;
        }
        if (!(status & N25Q128_STATUS_WRITE_IN_PROGRESS)) {
            return 0;
        }
        if (clock_ticks() >= end) {
            return ERROR_TIMEOUT;
        }
        if (pause_us) {
            clock_sleep_us(pause_us);
        }
    }
}

uint32_t spi_nor_program_words(void)
{
    return 1 + SPI_NOR_ADDRESS_BYTES + SPI_NOR_PAGE_BYTES;
}

uint32_t spi_nor_read_header_words(const struct spi_nor_mode *mode)
{
    return 1 + SPI_NOR_ADDRESS_BYTES + mode->read_dummy_bytes;
}

uint32_t spi_nor_read_words(const struct spi_nor_mode *mode)
{
    return spi_nor_read_header_words(mode) + SPI_NOR_PAGE_BYTES;
}

static void set_command_and_address(uint32_t *frame, uint8_t command, uint32_t address)
{
    frame[0] = command;
    frame[1] = (address >> 16) & 0xFF;
    frame[2] = (address >> 8) & 0xFF;
    frame[3] = address & 0xFF;
}

void spi_nor_set_program_header(uint32_t *frame, const struct spi_nor_mode *mode, uint32_t address)
{
    set_command_and_address(frame, mode->program_command, address);
}

void spi_nor_set_read_header(uint32_t *frame, const struct spi_nor_mode *mode, uint32_t address)
{
    set_command_and_address(frame, mode->read_command, address);
    for (uint32_t i = 0; i < mode->read_dummy_bytes; i++) {
        frame[1 + SPI_NOR_ADDRESS_BYTES + i] = 0;
    }
}

int spi_nor_send_program(const struct spi_nor *flash, const uint32_t *frame)
{
    return xlnx_axi_quad_spi_write(flash->spi, frame, spi_nor_program_words());
}

int spi_nor_read_page(const struct spi_nor *flash, const struct spi_nor_mode *mode, const uint32_t *frame,
                      uint32_t *received)
{
    return xlnx_axi_quad_spi_read(flash->spi, frame, spi_nor_read_header_words(mode), received,
                                  spi_nor_read_words(mode));
}
