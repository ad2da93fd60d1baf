#include "lm75.h"

#include "stm32_i2c.h"

#define LM75_TEMPERATURE 0u
#define MILLICELSIUS_OF_STEP 500

int lm75_read_temperature(uintptr_t i2c_base, uint8_t address, int32_t *millicelsius)
{
    static const uint8_t pointer = LM75_TEMPERATURE;
    uint8_t value[2];

    int error = stm32_i2c_transfer(i2c_base, address, &pointer, 1, value, sizeof value);
    if (error) {
        return error;
    }
    /* Nine bits, from the highest: steps of half a degree. */
    int32_t steps = (int32_t)(int16_t)(uint16_t)(value[0] << 8 | value[1]) >> 7;
    *millicelsius = steps * MILLICELSIUS_OF_STEP;
    return 0;
}
