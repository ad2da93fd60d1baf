/* The measurements of the program; each returns its exit status. */
#ifndef MEASURE_H
#define MEASURE_H

#include "at86rf230.h"

/* Addresses in frames of the extended mode. */
#define PAN 0x1234u
#define OWN_ADDRESS 0x5678u
#define PEER_ADDRESS 0x0001u

int measure_receiving(struct at86rf230 *chip);
int measure_sending(struct at86rf230 *chip);

/* Prints a driver's error; EXIT_FAILED. */
int fail(const char *step, int error);

#endif
