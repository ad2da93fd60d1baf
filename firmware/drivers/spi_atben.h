/* The ATBEN in one driver: SPI over its pins, and its power. */
#ifndef SPI_ATBEN_H
#define SPI_ATBEN_H

#include "spi.h"

/* Makes the master, and the transceiver's device with at86rf230's platform data. An error of the SPI core. */
int spi_atben_probe(uint16_t mode, struct spi_device **device);

#endif
