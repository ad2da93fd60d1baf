/* The measurements of a report (published/atben_spi_drivers.toml): how long accesses to an AT86RF231 take with
   drivers of different kinds, the cost of frames, and their share of the processor's time. */
#include "at86rf230_registers.h"
#include "console.h"
#include "error.h"
#include "exit.h"
#include "kernel.h"
#include "operations.h"
#include "result.h"
#include "stack.h"

static struct at86rf230 chip;

int fail(const char *step, int error)
{
    console_print("%s: %s\n", step, error_text(error));
    return EXIT_FAILED;
}

#if APP_OPERATION_IDENTIFY
/* One access, and nothing else on the wire. */
static int identify(void)
{
    uint8_t part_number;

    at86rf230_reset(&chip);
    int error = at86rf230_read_register(&chip, PART_NUM, &part_number);
    if (error) {
        return fail("PART_NUM", error);
    }
    result_number("part_number", "", part_number);
    if (part_number != PART_NUM_AT86RF231) {
        console_print("no AT86RF23x answers: part number 0x%02x\n", part_number);
        return EXIT_FAILED;
    }
    return EXIT_OK;
}
#endif

static int program(void)
{
    if (stack_attach(&chip)) {
        return EXIT_FAILED;
    }
#if APP_OPERATION_IDENTIFY
    return identify();
#elif APP_OPERATION_LIMITS
    return measure_limits(&chip);
#else
    if (at86rf230_probe(&chip)) {
        return EXIT_FAILED;
    }
#if APP_OPERATION_RECEPTION
    return measure_reception(&chip);
#elif APP_OPERATION_TRANSMISSION
    return measure_transmission(&chip);
#else
    return measure_access(&chip);
#endif
#endif
}

int main(void)
{
    kernel_start(program);
}
