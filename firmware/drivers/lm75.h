/* National LM75, a temperature sensor on I2C (DS012658). */
#ifndef LM75_H
#define LM75_H

#include <stdint.h>

/* With its address pins low. */
#define LM75_ADDRESS 0x48u
/* The longest time of a conversion. A read before the end of the first one returns no temperature. */
#define LM75_CONVERSION_US 300000u

/* Reads the temperature in thousandths of a degree Celsius, from a chip on the STM32's interface at `i2c_base`. Each
 * read begins a conversion anew. Returns 0 or an error of the interface. */
int lm75_read_temperature(uintptr_t i2c_base, uint8_t address, int32_t *millicelsius);

#endif
