/* Parallel I/O Controller of the SAMA5D2 (data sheet, chapter Parallel Input/Output Controller). */
#ifndef ATMEL_PIO4_H
#define ATMEL_PIO4_H

#include <stdbool.h>
#include <stdint.h>

enum pio_group { PIO_A, PIO_B, PIO_C, PIO_D };

enum pio_function {
    PIO_GPIO,
    PIO_FUNCTION_A,
    PIO_FUNCTION_B,
    PIO_FUNCTION_C,
    PIO_FUNCTION_D,
    PIO_FUNCTION_E,
    PIO_FUNCTION_F
};

/* Gives pins of a group, one bit each, to a peripheral. For the boot stub and later. */
void pio_select(enum pio_group group, uint32_t pins, enum pio_function function);

/* Makes pins of a group outputs with a level; sets outputs to a level. */
void pio_make_outputs(enum pio_group group, uint32_t pins, bool high);
void pio_set(enum pio_group group, uint32_t pins, bool high);

#endif
