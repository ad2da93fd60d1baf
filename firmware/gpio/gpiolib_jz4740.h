/* The ports of the JZ4740 as chips of gpiolib: pins 0 to 31 are port A, 32 to 63 port B, and so on. */
#ifndef GPIOLIB_JZ4740_H
#define GPIOLIB_JZ4740_H

#include <stdint.h>

/* Adds the four ports; errors of gpiolib_chip_add. */
int gpiolib_jz4740_start(void);

/* Many pins of one port at once, the one that has pin `gpio`. */
void gpiolib_jz4740_port_direction_input(unsigned gpio, uint32_t mask);
void gpiolib_jz4740_port_direction_output(unsigned gpio, uint32_t mask);
void gpiolib_jz4740_port_set_value(unsigned gpio, uint32_t value, uint32_t mask);

#endif
