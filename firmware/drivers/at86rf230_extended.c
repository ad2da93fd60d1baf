#include "at86rf230.h"
#include "at86rf230_registers.h"

int at86rf230_set_address(struct at86rf230 *chip, uint16_t pan, uint16_t address)
{
    const uint8_t values[][2] = {
        {SHORT_ADDR_0, (uint8_t)address},
        {SHORT_ADDR_1, (uint8_t)(address >> 8)},
        {PAN_ID_0, (uint8_t)pan},
        {PAN_ID_1, (uint8_t)(pan >> 8)},
    };
    int error = 0;

    for (uint32_t i = 0; i < sizeof values / sizeof values[0] && !error; i++) {
        error = at86rf230_write_register(chip, values[i][0], values[i][1]);
    }
    return error;
}
