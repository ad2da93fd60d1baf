/* Shared by the parts of the AT86RF230's driver. */
#ifndef AT86RF230_INTERNAL_H
#define AT86RF230_INTERNAL_H

#include "at86rf230.h"
#include "irq.h"

#define AT86RF230_NAME "at86rf230"

/* Reads a register, and gives the field: TRX_STATE_TRX_CMD and its like are three arguments each. */
int at86rf230_read_field(struct at86rf230 *chip, uint8_t address, uint8_t mask, unsigned shift, uint8_t *value);

/* Reads a register and writes it back with another value in the field. */
int at86rf230_write_field(struct at86rf230 *chip, uint8_t address, uint8_t mask, unsigned shift, uint8_t value);

/* The interrupt's handler, and what it leaves to the driver's thread. */
irq_handler at86rf230_irq;
work_function at86rf230_irq_work;

#endif
