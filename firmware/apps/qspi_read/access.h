/* Accesses to the QSPI controller's registers. */
#ifndef ACCESS_H
#define ACCESS_H

#include "atmel_qspi_registers.h"
#include "board.h"
#include "mmio.h"

static inline uint32_t read_register(uint32_t offset)
{
    return mmio_read(BOARD_QSPI_BASE, offset);
}

static inline void write_register(uint32_t offset, uint32_t value)
{
    mmio_write(BOARD_QSPI_BASE, offset, value);
}

#endif
