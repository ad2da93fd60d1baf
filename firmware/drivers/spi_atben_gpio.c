/* Framework for the ATBEN with a transport. Structure: the published driver (published/atben_spi_drivers.toml). */
#include "spi_atben_gpio.h"

#include "at86rf230.h"
#include "atben.h"
#include "delay.h"
#include "gpiolib.h"
#include "gpiolib_jz4740.h"

#define DISCHARGE_MS 100u
#define CHARGE_MS 10u
#define SETTLE_MS 10u

/* The card slot's lines feed the transceiver through its pins' protection: without power they must be low, too. */
static void reset(void *unused)
{
    uint32_t driven = ATBEN_BIT(ATBEN_MOSI) | ATBEN_BIT(ATBEN_SLP_TR) | ATBEN_BIT(ATBEN_SCLK) | ATBEN_BIT(ATBEN_NSEL);
    const uint32_t inputs = ATBEN_BIT(ATBEN_IRQ) | ATBEN_BIT(ATBEN_MISO);
    const uint32_t power_off = ATBEN_BIT(ATBEN_VDD_OFF);

    (void)unused;
    gpiolib_jz4740_port_set_value(ATBEN_PORT, power_off, power_off | driven | inputs);
    gpiolib_jz4740_port_direction_output(ATBEN_PORT, power_off | driven | inputs);
    msleep(DISCHARGE_MS);

    /* Capacitors are charged through the lines before the power switch closes. */
    gpiolib_jz4740_port_direction_input(ATBEN_PORT, inputs);
    gpiolib_jz4740_port_set_value(ATBEN_PORT, driven, driven);
    msleep(CHARGE_MS);

    gpiolib_jz4740_port_set_value(ATBEN_PORT, 0, power_off | ATBEN_BIT(ATBEN_SLP_TR) | ATBEN_BIT(ATBEN_SCLK));
    msleep(SETTLE_MS);
}

static const struct at86rf230_platform_data board = {.slp_tr = -1, .reset = reset};

static const struct spi_gpio_pins pins = {
    .sck = ATBEN_SCLK,
    .mosi = (int)ATBEN_MOSI,
    .miso = (int)ATBEN_MISO,
    .chip_selects = 1,
};

static struct device transport_device = {.platform_data = &pins};

static struct spi_device transceiver = {
    .device = {.name = "at86rf230", .platform_data = &board},
    .chip_select = 0,
    .word_gap = true, /* 250 ns between bytes (AT86RF231, SPI timing, t5) */
    .chip_select_gpio = (int)ATBEN_NSEL,
};

int spi_atben_gpio_probe(spi_transport_probe *transport, uint16_t mode, uint32_t speed_hz, struct spi_device **device)
{
    int error = transport(&transport_device, &transceiver.master);

    if (error) {
        return error;
    }
    transceiver.mode = mode;
    transceiver.max_speed_hz = speed_hz;
    transceiver.irq = gpiolib_to_irq(ATBEN_IRQ);
    if (transceiver.irq < 0) {
        return transceiver.irq;
    }
    *device = &transceiver;
    return spi_device_add(&transceiver);
}
