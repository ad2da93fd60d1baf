/* SPI over the ATBEN's pins, which are constants here, chip select included: bits in straight code, a message at once and in the caller's thread. Mode 0.
   Power, too. Structure: the driver of that name that a report measured (published/atben_spi_drivers.toml). */
#include "spi_atben.h"

#include "at86rf230.h"
#include "atben.h"
#include "delay.h"
#include "jz4740_gpio.h"

#define DISCHARGE_MS 100u
#define CHARGE_MS 10u
#define SETTLE_MS 10u

enum pin_bits {
    VDD_OFF = ATBEN_BIT(ATBEN_VDD_OFF),
    MOSI = ATBEN_BIT(ATBEN_MOSI),
    SLP_TR = ATBEN_BIT(ATBEN_SLP_TR),
    MISO = ATBEN_BIT(ATBEN_MISO),
    SCLK = ATBEN_BIT(ATBEN_SCLK),
    IRQ = ATBEN_BIT(ATBEN_IRQ),
    NSEL = ATBEN_BIT(ATBEN_NSEL),
};

struct spi_atben {
    struct spi_master master;
    uintptr_t base; /* of port D */
};

static struct spi_atben bus;

#define HIGH(pins) mmio_write(base, GPIO_DATS, pins)
#define LOW(pins) mmio_write(base, GPIO_DATC, pins)

/* The card slot's lines feed the transceiver through its pins' protection: while it has no power they must be low, too. */
static void reset(void *reset_data)
{
    const struct spi_atben *self = reset_data;
    uintptr_t base = self->base;
    const uint32_t outputs = NSEL | MOSI | SLP_TR | SCLK;

    HIGH(VDD_OFF);
    LOW(outputs | IRQ | MISO);
    mmio_write(base, GPIO_DIRS, VDD_OFF | outputs | IRQ | MISO);
    msleep(DISCHARGE_MS);

    /* Capacitors are charged through the lines before the power switch closes. */
    mmio_write(base, GPIO_DIRC, IRQ | MISO);
    HIGH(outputs);
    msleep(CHARGE_MS);

    LOW(VDD_OFF | SLP_TR | SCLK);
    msleep(SETTLE_MS);
}

#define RECEIVE_BIT(mask)                   \
    HIGH(SCLK);                             \
    if (mmio_read(base, GPIO_PIN) & MISO) { \
        byte |= (mask);                     \
    }                                       \
    LOW(SCLK)

static void rx_only(const struct spi_atben *self, uint8_t *to, unsigned bytes)
{
    uintptr_t base = self->base;

    while (bytes--) {
        uint32_t byte = 0;
        RECEIVE_BIT(0x80);
        RECEIVE_BIT(0x40);
        RECEIVE_BIT(0x20);
        RECEIVE_BIT(0x10);
        RECEIVE_BIT(0x08);
        RECEIVE_BIT(0x04);
        RECEIVE_BIT(0x02);
        RECEIVE_BIT(0x01);
        *to++ = (uint8_t)byte;
    }
}

/* The clock's pulse for bit `bit`, then MOSI for the one behind it: code of its own for each level that MOSI has, so that nothing is written that
   is so already. A fall of MOSI goes with the clock's. */
#define SEND_BIT(bit, next)        \
    one_##bit:                     \
    HIGH(SCLK);                    \
    if (!(byte & 1u << (next))) {  \
        LOW(MOSI | SCLK);          \
        goto zero_##next;          \
    }                              \
    LOW(SCLK);                     \
    goto one_##next;               \
    zero_##bit:                    \
    HIGH(SCLK);                    \
    LOW(SCLK);                     \
    if (!(byte & 1u << (next))) {  \
        goto zero_##next;          \
    }                              \
    HIGH(MOSI);                    \
    goto one_##next;

static void tx_only(const struct spi_atben *self, const uint8_t *from, unsigned bytes)
{
    uintptr_t base = self->base;

    while (bytes--) {
        uint32_t byte = *from++;
        if (!(byte & 0x80)) {
            LOW(MOSI);
            goto zero_7;
        }
        HIGH(MOSI);
        goto one_7;
        SEND_BIT(7, 6)
        SEND_BIT(6, 5)
        SEND_BIT(5, 4)
        SEND_BIT(4, 3)
        SEND_BIT(3, 2)
        SEND_BIT(2, 1)
        SEND_BIT(1, 0)
    one_0:
    zero_0:
        HIGH(SCLK);
        LOW(SCLK);
        LOW(SCLK); /* changes nothing, but takes its time: 250 ns between bytes (AT86RF231, SPI timing, t5) */
    }
}

static void bidir(const struct spi_atben *self, const uint8_t *from, uint8_t *to, unsigned bytes)
{
    uintptr_t base = self->base;

    while (bytes--) {
        uint32_t out = *from++;
        uint32_t in = 0;
#pragma clang loop unroll(disable)
        for (uint32_t mask = 0x80; mask; mask >>= 1) {
            if (out & mask) {
                HIGH(MOSI);
            } else {
                LOW(MOSI);
            }
            HIGH(SCLK);
            if (mmio_read(base, GPIO_PIN) & MISO) {
                in |= mask;
            }
            LOW(SCLK);
        }
        *to++ = (uint8_t)in;
    }
}

static int transfer_message(struct spi_device *spi, struct spi_message *message)
{
    struct spi_atben *self = spi_master_data(spi->master);
    uintptr_t base = self->base;

    message->actual_length = 0;
    LOW(NSEL);
    list_for_each (element, &message->transfers) {
        struct spi_transfer *transfer = container_of(element, struct spi_transfer, link);

        message->actual_length += transfer->len;
        if (!transfer->tx_buf) {
            rx_only(self, transfer->rx_buf, transfer->len);
        } else if (!transfer->rx_buf) {
            tx_only(self, transfer->tx_buf, transfer->len);
        } else {
            bidir(self, transfer->tx_buf, transfer->rx_buf, transfer->len);
        }
    }
    HIGH(NSEL);

    message->status = 0;
    message->complete(message->context);
    return 0;
}

static const struct at86rf230_platform_data board = {.slp_tr = -1, .reset = reset, .reset_data = &bus};

static struct spi_device transceiver = {
    .device = {.name = "at86rf230", .platform_data = &board},
    .max_speed_hz = ATBEN_SPI_HZ,
    .chip_select_gpio = -1,
};

int spi_atben_probe(uint16_t mode, struct spi_device **device)
{
    bus.base = gpio_base(ATBEN_PORT);
    mmio_write(bus.base, GPIO_FUNC, NSEL | MOSI | MISO | SCLK | SLP_TR | IRQ);

    spi_master_init(&bus.master, "spi_atben", &bus);
    bus.master.chip_selects = 1;
    bus.master.transfer = transfer_message;
    int error = spi_master_register(&bus.master);
    if (error) {
        return error;
    }
    transceiver.master = &bus.master;
    transceiver.mode = mode;
    transceiver.irq = (int)irq_of_pin(ATBEN_PORT / 32u, ATBEN_IRQ - ATBEN_PORT);
    *device = &transceiver;
    return spi_device_add(&transceiver);
}
