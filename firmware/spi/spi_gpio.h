/* Transports over pins, for the frameworks that know the wiring: each makes a master of four pins. */
#ifndef SPI_GPIO_H
#define SPI_GPIO_H

#include "spi.h"

/* Pins by gpiolib's numbers. The chip selects are the devices' affair (spi_device.chip_select_gpio). */
struct spi_gpio_pins {
    unsigned sck;
    int mosi; /* -1: none */
    int miso; /* -1: none */
    uint16_t chip_selects;
};

/* Makes and registers the master of `device`, whose platform_data are struct spi_gpio_pins. Errors of gpiolib_request
   for the pins, ERROR_INVALID if the transport cannot have them. */
typedef int spi_transport_probe(struct device *device, struct spi_master **master);

spi_transport_probe spi_gpio_probe;        /* spi_gpio.c: any pins, a call for each access */
spi_transport_probe spi_gpio_atben_probe;  /* spi_gpio_atben.c: the same for the ATBEN's pins, accesses inline */
spi_transport_probe spi_jz4740_gpio_probe; /* spi_jz4740_gpio.c: pins of one port, in the caller */
spi_transport_probe spi_jz4740_ssi_probe;  /* spi_jz4740_ssi.c: the serial controller, whose pins are its own */

#endif
