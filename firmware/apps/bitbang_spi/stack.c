#include "stack.h"

#include "console.h"
#include "error.h"
#include "gpiolib_jz4740.h"
#include "spi_atben.h"
#include "spi_atben_gpio.h"

#if APP_STACK_SPI_GPIO
#define TRANSPORT spi_gpio_probe
#elif APP_STACK_SPI_GPIO_ATBEN
#define TRANSPORT spi_gpio_atben_probe
#elif APP_STACK_SPI_JZ4740_GPIO
#define TRANSPORT spi_jz4740_gpio_probe
#elif APP_STACK_SPI_JZ4740_SSI
#define TRANSPORT spi_jz4740_ssi_probe
#endif

static int probe(struct spi_device **device)
{
#if APP_STACK_SPI_ATBEN
    return spi_atben_probe(APP_SPI_MODE, device);
#else
    return spi_atben_gpio_probe(TRANSPORT, APP_SPI_MODE, APP_SPI_HZ, device);
#endif
}

int stack_attach(struct at86rf230 *chip)
{
    struct spi_device *device;

    int error = gpiolib_jz4740_start();
    if (!error) {
        error = probe(&device);
    }
    if (!error) {
        error = at86rf230_attach(chip, device);
    }
    if (error) {
        console_print("SPI driver: %s\n", error_text(error));
    }
    return error;
}
