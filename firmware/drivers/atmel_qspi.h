/* Quad SPI controller of the SAMA5D2 (data sheet, chapter Quad Serial Peripheral Interface) with an N25Q128A on
 * its bus. */
#ifndef ATMEL_QSPI_H
#define ATMEL_QSPI_H

#include <stdbool.h>
#include <stdint.h>

/* Serial memory mode, SPCK = MCK / divider (1 to 256), mode 0. The peripheral's clock runs, the pins are its own. For
 * the boot stub. */
void qspi_start(uint32_t divider);

/* SPCK as fast as it gets without being faster than `baud_hz`, between frames; as qspi_set_baudrate of Atmel's software
 * package. */
void qspi_set_baudrate(uint32_t baud_hz);

/* Lets the window be read, and run from: quad I/O fast read, addresses of 3 bytes. With `continuous`, the flash is in
 * its XIP mode, so that only the first frame has an instruction. For the boot stub. */
void qspi_map(bool continuous);

#endif
