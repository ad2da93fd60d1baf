/* SPI by the JZ4740's SSI (programming manual): words from FIFO to FIFO, polled, in the caller's thread. */
#include "spi_gpio.h"

#include "error.h"
#include "jz4740_cgu.h"
#include "jz4740_gpio.h"

#define SSI_DR 0x00u
#define SSI_CR0 0x04u
#define SSI_CR1 0x08u
#define SSI_SR 0x0Cu
#define SSI_ITR 0x10u
#define SSI_GR 0x18u

#define CR0_SSIE (1u << 15)
#define CR0_TFLUSH (1u << 2)
#define CR0_RFLUSH (1u << 1)

#define CR1_TFVCK_1 (1u << 28)
#define CR1_TCKFI_1 (1u << 26)
#define CR1_UNFIN (1u << 23) /* the frame continues when the transmit FIFO is empty: the device stays selected */
#define CR1_FLEN_8 (6u << 4)
#define CR1_PHA (1u << 1)
#define CR1_POL (1u << 0)

#define SR_RFIFO_NUM(sr) ((sr) >> 8 & 0x1Fu)
#define SR_BUSY (1u << 6)

#define FIFO_WORDS 16u

#define SSICDR_DIVIDER_MAX 16u
#define GR_MAX 0xFFu

/* PD18 to PD21: clock, data, frame. */
#define PIN_FIRST GPIO_PIN_OF(3, 18)
#define PINS 4u

static struct spi_master bus;
static uint32_t control; /* CR1 between frames */

/* With `ahead` words at most on their way. If that is one, the pause between two is the accesses between the end of the
   first and the second's write: three, of some 80 ns each. */
static void transfer_bytes(const struct spi_transfer *transfer, unsigned ahead)
{
    const uint8_t *from = transfer->tx_buf;
    uint8_t *to = transfer->rx_buf;
    unsigned sent = 0;
    unsigned received = 0;

    while (received < transfer->len) {
        while (sent < transfer->len && sent - received < ahead) {
            mmio_write(BOARD_SSI_BASE, SSI_DR, from ? from[sent] : 0);
            sent++;
        }
        for (uint32_t ready = SR_RFIFO_NUM(mmio_read(BOARD_SSI_BASE, SSI_SR)); ready; ready--) {
            uint8_t byte = (uint8_t)mmio_read(BOARD_SSI_BASE, SSI_DR);
            if (to) {
                to[received] = byte;
            }
            received++;
        }
    }
}

static int transfer_message(struct spi_device *spi, struct spi_message *message)
{
    unsigned ahead = spi->word_gap ? 1 : FIFO_WORDS;

    message->actual_length = 0;
    mmio_write(BOARD_SSI_BASE, SSI_CR1, control | CR1_UNFIN);
    list_for_each (element, &message->transfers) {
        const struct spi_transfer *transfer = container_of(element, struct spi_transfer, link);

        transfer_bytes(transfer, ahead);
        message->actual_length += transfer->len;
    }
    mmio_write(BOARD_SSI_BASE, SSI_CR1, control);
    while (mmio_read(BOARD_SSI_BASE, SSI_SR) & SR_BUSY) {
    }
    message->status = 0;
    message->complete(message->context);
    return 0;
}

/* The fastest clock that is not above the device's. SCK is the SSI's clock by 2 * (GR + 1). */
static int set_speed(struct spi_device *spi)
{
    uint32_t speed_hz = spi->max_speed_hz;
    uint32_t best_hz = 0, best_divider = 0, best_gr = 0;

    for (uint32_t divider = 1; divider <= SSICDR_DIVIDER_MAX; divider++) {
        uint32_t hz = cgu_set_ssi_divider(divider);
        uint32_t gr = (hz + 2 * speed_hz - 1) / (2 * speed_hz);
        gr = gr ? gr - 1 : 0;
        uint32_t sck_hz = hz / (2 * (gr + 1));
        if (gr <= GR_MAX && sck_hz <= speed_hz && sck_hz > best_hz) {
            best_hz = sck_hz;
            best_divider = divider;
            best_gr = gr;
        }
    }
    if (!best_hz) {
        return ERROR_INVALID;
    }
    cgu_set_ssi_divider(best_divider);
    mmio_write(BOARD_SSI_BASE, SSI_GR, best_gr);
    spi->sck_hz = best_hz;
    return 0;
}

static int setup(struct spi_device *spi)
{
    if (spi->bits_per_word != 8 || !spi->max_speed_hz) {
        return ERROR_INVALID;
    }
    mmio_write(BOARD_SSI_BASE, SSI_CR0, 0);
    int error = set_speed(spi);
    if (error) {
        return error;
    }
    control = CR1_TFVCK_1 | CR1_TCKFI_1 | CR1_FLEN_8 | (spi->mode & SPI_CPHA ? CR1_PHA : 0) |
        (spi->mode & SPI_CPOL ? CR1_POL : 0);
    mmio_write(BOARD_SSI_BASE, SSI_CR1, control);
    mmio_write(BOARD_SSI_BASE, SSI_ITR, 0);
    mmio_write(BOARD_SSI_BASE, SSI_CR0, CR0_SSIE | CR0_TFLUSH | CR0_RFLUSH);
    return 0;
}

int spi_jz4740_ssi_probe(struct device *device, struct spi_master **master)
{
    cgu_start_clock(CGU_SSI);
    for (unsigned pin = 0; pin < PINS; pin++) {
        gpio_set_function(PIN_FIRST + pin, GPIO_FUNCTION_0);
    }
    device->name = "spi_jz4740_ssi";
    spi_master_init(&bus, device->name, NULL);
    bus.chip_selects = 1;
    bus.mode_bits = SPI_CPOL | SPI_CPHA;
    bus.setup = setup;
    bus.transfer = transfer_message;
    *master = &bus;
    return spi_master_register(&bus);
}
