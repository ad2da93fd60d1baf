/* The flash read at each width that the controller has (QSPI_IFR.WIDTH; Atmel's application note 44043, table 2-1). */
#ifndef ATMEL_QSPI_WIDTHS_H
#define ATMEL_QSPI_WIDTHS_H

#include <stdbool.h>
#include <stdint.h>

/* Lines of the instruction, of address and option, of data. */
enum qspi_width {
    QSPI_SINGLE_BIT_SPI, /* 1-1-1 */
    QSPI_DUAL_OUTPUT,    /* 1-1-2 */
    QSPI_QUAD_OUTPUT,    /* 1-1-4 */
    QSPI_DUAL_IO,        /* 1-2-2 */
    QSPI_QUAD_IO,        /* 1-4-4 */
    QSPI_DUAL_CMD,       /* 2-2-2: the flash's dual protocol */
    QSPI_QUAD_CMD,       /* 4-4-4: its quad protocol */
    QSPI_WIDTHS
};

/* Lets the window be read, and run from, by the fast read of a width, from a flash as it is after power-up. With
 * `continuous` only the first frame has an instruction. For the boot stub and later. */
void qspi_map_width(enum qspi_width width, bool continuous);

/* Called after qspi_map_width with the same arguments and, if these were continuous, after a read: the flash takes
 * all instructions again, on one line. */
void qspi_unmap_width(enum qspi_width width, bool continuous);

/* QSPI_ICR and QSPI_IFR of a read that has an instruction in each frame, but for QSPI_IFR.TFRTYP. */
uint32_t qspi_read_instruction(enum qspi_width width);
uint32_t qspi_read_frame(enum qspi_width width);

#endif
