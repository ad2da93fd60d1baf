/* SPI over pins of one JZ4740 port: bits in straight code, a message at once and in the caller's thread. Mode 0. Structure: the driver of that name that a
   report measured (published/atben_spi_drivers.toml). */
#include "spi_gpio.h"

#include "console.h"
#include "error.h"
#include "gpiolib.h"
#include "jz4740_gpio.h"

struct spi_jz4740_gpio {
    struct spi_master master;
    uintptr_t base; /* of the port */
    uint32_t mosi, miso, sck;
};

static struct spi_jz4740_gpio bus;

#define HIGH(pins) mmio_write(base, GPIO_DATS, pins)
#define LOW(pins) mmio_write(base, GPIO_DATC, pins)

#define RECEIVE_BIT(mask)                   \
    HIGH(sck);                              \
    if (mmio_read(base, GPIO_PIN) & miso) { \
        byte |= (mask);                     \
    }                                       \
    LOW(sck)

static void rx_only(const struct spi_jz4740_gpio *self, uint8_t *to, unsigned bytes)
{
    uintptr_t base = self->base;
    uint32_t miso = self->miso;
    uint32_t sck = self->sck;

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
#define SEND_BIT(bit, next)                        \
    one_##bit:                                     \
    HIGH(sck);                                     \
    if (!(byte & 1u << (next))) {                  \
        LOW(mosi | sck);                           \
        goto zero_##next;                          \
    }                                              \
    LOW(sck);                                      \
    goto one_##next;                               \
    zero_##bit:                                    \
    HIGH(sck);                                     \
    LOW(sck);                                      \
    if (!(byte & 1u << (next))) {                  \
        goto zero_##next;                          \
    }                                              \
    HIGH(mosi);                                    \
    goto one_##next;

static void tx_only(const struct spi_jz4740_gpio *self, const uint8_t *from, unsigned bytes)
{
    uintptr_t base = self->base;
    uint32_t mosi = self->mosi;
    uint32_t sck = self->sck;

    while (bytes--) {
        uint32_t byte = *from++;
        if (!(byte & 0x80)) {
            LOW(mosi);
            goto zero_7;
        }
        HIGH(mosi);
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
        HIGH(sck);
        LOW(sck);
        LOW(sck); /* changes nothing, but takes its time: 250 ns between bytes (AT86RF231, SPI timing, t5) */
    }
}

static void bidir(const struct spi_jz4740_gpio *self, const uint8_t *from, uint8_t *to, unsigned bytes)
{
    uintptr_t base = self->base;
    uint32_t mosi = self->mosi;
    uint32_t miso = self->miso;
    uint32_t sck = self->sck;

    while (bytes--) {
        uint32_t out = *from++;
        uint32_t in = 0;
#pragma clang loop unroll(disable)
        for (uint32_t mask = 0x80; mask; mask >>= 1) {
            if (out & mask) {
                HIGH(mosi);
            } else {
                LOW(mosi);
            }
            HIGH(sck);
            if (mmio_read(base, GPIO_PIN) & miso) {
                in |= mask;
            }
            LOW(sck);
        }
        *to++ = (uint8_t)in;
    }
}

static int transfer_message(struct spi_device *spi, struct spi_message *message)
{
    struct spi_jz4740_gpio *self = spi_master_data(spi->master);
    unsigned nsel = (unsigned)spi->chip_select_gpio;

    message->actual_length = 0;
    gpiolib_set_value(nsel, 0);
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
    gpiolib_set_value(nsel, 1);

    message->status = 0;
    message->complete(message->context);
    return 0;
}

/* A pin for the bus: output at `value`, or input if that is negative. */
static int take_pin(unsigned gpio, const char *label, int value)
{
    int error = gpiolib_request(gpio, label);

    if (!error) {
        error = value < 0 ? gpiolib_direction_input(gpio) : gpiolib_direction_output(gpio, value);
    }
    if (error) {
        console_print("%s: pin %u: %s\n", label, gpio, error_text(error));
        return error;
    }
    gpio_set_function(gpio, GPIO_FUNCTION_PORT);
    return 0;
}

/* One of the three that have to be on the same port; gives its bit there. */
static int take_port_pin(int gpio, const char *label, int value, uint32_t *bit)
{
    if (!gpiolib_is_valid(gpio) || (bus.base && bus.base != gpio_base((unsigned)gpio))) {
        console_print("%s: clock and data have to be pins of one port\n", label);
        return ERROR_INVALID;
    }
    bus.base = gpio_base((unsigned)gpio);
    *bit = gpio_mask((unsigned)gpio);
    return take_pin((unsigned)gpio, label, value);
}

static int setup(struct spi_device *spi)
{
    if (!gpiolib_is_valid(spi->chip_select_gpio)) {
        return ERROR_INVALID;
    }
    unsigned nsel = (unsigned)spi->chip_select_gpio;
    return gpiolib_label(nsel) ? 0 : take_pin(nsel, spi->device.name, 1);
}

int spi_jz4740_gpio_probe(struct device *device, struct spi_master **master)
{
    const struct spi_gpio_pins *pins = device->platform_data;

    device->name = "spi_jz4740_gpio";
    int error = take_port_pin(pins->mosi, device->name, 0, &bus.mosi);
    if (!error) {
        error = take_port_pin(pins->miso, device->name, -1, &bus.miso);
    }
    if (!error) {
        error = take_port_pin((int)pins->sck, device->name, 0, &bus.sck);
    }
    if (error) {
        return error;
    }
    spi_master_init(&bus.master, device->name, &bus);
    bus.master.chip_selects = pins->chip_selects;
    bus.master.setup = setup;
    bus.master.transfer = transfer_message;
    *master = &bus.master;
    return spi_master_register(&bus.master);
}
