/* The ways by which the controller gives the flash's data (Atmel's application note 44043, 2.1 and 2.2). Each reads
 * `bytes`, a multiple of 64, from `address` on into `to`; those of serial memory mode at a width, in frames that have
 * an instruction each or, once qspi_map_width has begun them, in continuous ones. They end with chip select inactive,
 * and are false if a transfer failed. */
#ifndef PATHS_H
#define PATHS_H

#include "atmel_qspi_widths.h"

#include <stdbool.h>
#include <stdint.h>

/* SPI mode: READ (03h), a byte after the other. */
bool path_spi(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes);
bool path_spi_dma(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes);

/* Serial memory mode, data through QSPI_RDR. */
bool path_registers(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes);
bool path_registers_dma(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes);

/* Serial memory mode, data in the window, which qspi_map_width has opened: words, or bursts of 16 of them. */
bool path_window(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes);
bool path_window_dma(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes);

#endif
