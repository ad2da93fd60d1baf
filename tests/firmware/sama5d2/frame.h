/* Frames that read the flash through the window, right ones and wrong ones. The program runs from the flash: what
 * changes the frame is in SRAM. */
#ifndef FRAME_H
#define FRAME_H

#include "arm.h"
#include "atmel_qspi.h"
#include "qspi.h"

#define QUAD_OUTPUT_FAST_READ 0x6Bu
#define QUAD_IO_FAST_READ 0xEBu

#define IFR_SINGLE_BIT_SPI 0u
#define IFR_QUAD_OUTPUT 2u
#define IFR_QUAD_IO 4u
/* INSTEN, ADDREN, DATAEN, TFRTYP = TRSFR_READ_MEMORY. */
#define IFR_READ_MEMORY (1u << 4 | 1u << 5 | 1u << 7 | 1u << 12)
#define IFR_ADDRESS_OF_32_BITS (1u << 10)
#define IFR_DUMMIES(clocks) ((uint32_t)(clocks) << 16)

ARM_ALWAYS_INLINE void frame_set(uint32_t instruction, uint32_t frame)
{
    mmio_write(BOARD_QSPI_BASE, QSPI_ICR, instruction);
    mmio_write(BOARD_QSPI_BASE, QSPI_IFR, IFR_READ_MEMORY | frame);
    (void)mmio_read(BOARD_QSPI_BASE, QSPI_IFR);
    arm_dsb();
}

#endif
