/* A filter over a signal, run from flash. The core has the highest clock that the board names, and the flash the wait
 * states that it needs there; its prefetch and caches stay as they are out of reset. */
#include "board.h"
#include "console.h"
#include "exit.h"
#include "fir_filter.h"
#include "stm32_rates.h"

#define SAMPLES 1024u
/* Of the filtered signal: most of the noise is gone. */
#define POWER 5862902u
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct stm32_rate rates[] = {BOARD_RATES};
static int16_t input[SAMPLES], output[SAMPLES];

int main(void)
{
    if (!stm32_rate_set(rates[COUNT(rates) - 1])) {
        console_print("an oscillator or the PLL never got ready\n");
        return EXIT_FAILED;
    }
    signal_make(input, SAMPLES);
    filter_low_pass(input, output, SAMPLES);
    uint32_t power = signal_power(output, SAMPLES);
    if (power != POWER) {
        /* The console belongs to the clock out of reset. */
        stm32_rate_reset();
        console_print("the filtered signal has a power of %u instead of %u\n", power, POWER);
        return EXIT_FAILED;
    }
    return EXIT_OK;
}
