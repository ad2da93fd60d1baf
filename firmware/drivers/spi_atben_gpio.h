/* The ATBEN with any transport: which pins it has, and its power. */
#ifndef SPI_ATBEN_GPIO_H
#define SPI_ATBEN_GPIO_H

#include "spi_gpio.h"

/* Makes the transport's master, and on it the transceiver's device with at86rf230's platform data. Errors of the
   transport and of the SPI core. */
int spi_atben_gpio_probe(spi_transport_probe *transport, uint16_t mode, uint32_t speed_hz, struct spi_device **device);

#endif
