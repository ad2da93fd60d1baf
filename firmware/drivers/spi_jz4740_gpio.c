/* SPI over pins of one JZ4740 port: bits in straight code, a message at once and in the caller's thread. Mode 0.
   Structure: the driver of that name that a report measured (published/atben_spi_drivers.toml). */
#include "spi_gpio.h"

#include "console.h"
#include "error.h"
#include "gpiolib.h"
#include "spi_jz4740_bits.h"

struct spi_jz4740_gpio {
    struct spi_master master;
    uintptr_t base; /* of the port that all three pins are on */
    struct spi_lines lines;
};

static struct spi_jz4740_gpio bus;

static int transfer_message(struct spi_device *spi, struct spi_message *message)
{
    const struct spi_jz4740_gpio *self = spi_master_data(spi->master);
    unsigned nsel = (unsigned)spi->chip_select_gpio;

    message->actual_length = 0;
    gpiolib_set_value(nsel, 0);
    spi_transfer_bytes(&self->lines, message);
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
    bus.lines.base = &bus.base;
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
    int error = take_port_pin(pins->mosi, device->name, 0, &bus.lines.mosi);
    if (!error) {
        error = take_port_pin(pins->miso, device->name, -1, &bus.lines.miso);
    }
    if (!error) {
        error = take_port_pin((int)pins->sck, device->name, 0, &bus.lines.sck);
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
