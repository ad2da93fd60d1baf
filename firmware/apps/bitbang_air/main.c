/* Frames of one length on the air, as fast as driver, transceiver and air let them: how long one takes, what it costs
   the processor, and whether the driver keeps up with it. */
#include "at86rf230_registers.h"
#include "console.h"
#include "error.h"
#include "exit.h"
#include "kernel.h"
#include "measure.h"
#include "stack.h"

static struct at86rf230 chip;

int fail(const char *step, int error)
{
    console_print("%s: %s\n", step, error_text(error));
    return EXIT_FAILED;
}

/* OQPSK_DATA_RATE. */
#if APP_AIR_KBPS == 2000
#define DATA_RATE 3
#elif APP_AIR_KBPS == 1000
#define DATA_RATE 2
#elif APP_AIR_KBPS == 500
#define DATA_RATE 1
#elif APP_AIR_KBPS == 250
#define DATA_RATE 0
#else
#error "air_kbps: the transceiver has 250, 500, 1000 and 2000"
#endif

static int set_up(void)
{
    int error = 0;

    if (DATA_RATE) {
        error = at86rf230_write_register(&chip, TRX_CTRL_2, DATA_RATE);
    }
#if APP_MODE_EXTENDED
    if (!error) {
        error = at86rf230_set_address(&chip, PAN, OWN_ADDRESS);
    }
#endif
    return error;
}

static int program(void)
{
    if (stack_attach(&chip) || at86rf230_probe(&chip)) {
        return EXIT_FAILED;
    }
    int error = set_up();
    if (error) {
        return fail("set-up", error);
    }
#if APP_WAY_RECEPTION
    return measure_receiving(&chip);
#else
    return measure_sending(&chip);
#endif
}

int main(void)
{
    kernel_start(program);
}
