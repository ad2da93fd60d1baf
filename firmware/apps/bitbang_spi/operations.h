/* The operations of the program; each returns its exit status. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "at86rf230.h"

/* Of a transceiver that is probed. */
int measure_access(struct at86rf230 *chip);
int measure_reception(struct at86rf230 *chip);
int measure_transmission(struct at86rf230 *chip);

/* Of one that may answer wrongly. */
int measure_limits(struct at86rf230 *chip);

/* Prints a driver's error; EXIT_FAILED. */
int fail(const char *step, int error);

#endif
