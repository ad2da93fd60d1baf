/* A thermometer: an LM75 on I2C1. */
#include "arm_generic_timer.h"
#include "board.h"
#include "clock.h"
#include "console.h"
#include "error.h"
#include "lm75.h"
#include "result.h"
#include "section.h"
#include "stm32_gpio.h"
#include "stm32_i2c.h"
#include "stm32_rcc.h"

#define FUNCTION_I2C1 5u

#if APP_BUS_KHZ_400
#define TIMING STM32_I2C_TIMING_400_KHZ_FROM_64_MHZ
#else
#define TIMING STM32_I2C_TIMING_100_KHZ_FROM_64_MHZ
#endif

SECTION static int measure(int32_t *millicelsius)
{
    return lm75_read_temperature(BOARD_I2C1_BASE, LM75_ADDRESS, millicelsius);
}

static void print_temperature(int32_t millicelsius)
{
    uint32_t magnitude = (uint32_t)(millicelsius < 0 ? -millicelsius : millicelsius);

    console_print("%s%u.%u C\n", millicelsius < 0 ? "-" : "", magnitude / 1000, magnitude % 1000 / 100);
}

/* Pins 27 and 28 of the expansion connector, as Linux has them for this bus. */
static void start_pins(void)
{
    rcc_enable(RCC_CLOCK_GPIOD);
    rcc_enable(RCC_CLOCK_GPIOF);
    stm32_gpio_alternate(BOARD_GPIOD_BASE, 12, FUNCTION_I2C1);
    stm32_gpio_open_drain(BOARD_GPIOD_BASE, 12);
    stm32_gpio_alternate(BOARD_GPIOF_BASE, 15, FUNCTION_I2C1);
    stm32_gpio_open_drain(BOARD_GPIOF_BASE, 15);
}

int main(void)
{
    start_pins();
    rcc_select(RCC_I2C12CKSELR, RCC_I2C_FROM_HSI);
    rcc_enable(RCC_CLOCK_I2C1);
    stm32_i2c_start(BOARD_I2C1_BASE, TIMING);
    for (uint32_t reading = 0; reading < APP_READINGS; reading++) {
        int32_t millicelsius = 0;

        clock_sleep_us(LM75_CONVERSION_US);
        uint64_t begin = clock_ticks();
        int error = measure(&millicelsius);
        uint64_t end = clock_ticks();
        if (error) {
            console_print("i2c_thermometer: %s\n", error == ERROR_I2C_NACK ? "no acknowledge" : error_text(error));
            return 1;
        }
        print_temperature(millicelsius);
        result_number("transfer_time", "ns", clock_ns_of_ticks(end - begin));
    }
    return 0;
}
