/* The driver stack that the program is built with. */
#ifndef STACK_H
#define STACK_H

#include "at86rf230.h"

/* Attaches the transceiver to the stack's SPI driver. Errors are printed. */
int stack_attach(struct at86rf230 *chip);

#endif
