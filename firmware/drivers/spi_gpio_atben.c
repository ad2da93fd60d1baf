/* The same over the ATBEN's pins of the Ben NanoNote: with pins that the compiler knows, each access is one
   instruction. Structure: the driver of that name that a report measured (published/atben_spi_drivers.toml). */
#include "atben.h"
#include "gpiolib.h"
#include "jz4740_gpio.h"

#define gpiolib_get_value(gpio) ((mmio_read(gpio_base(gpio), GPIO_PIN) & gpio_mask(gpio)) != 0)
#define gpiolib_set_value(gpio, value) mmio_write(gpio_base(gpio), (value) ? GPIO_DATS : GPIO_DATC, gpio_mask(gpio))

#define SPI_GPIO_NAME spi_gpio_atben
#define SPI_MISO_GPIO ATBEN_MISO
#define SPI_MOSI_GPIO ATBEN_MOSI
#define SPI_SCK_GPIO ATBEN_SCLK

#include "spi_gpio.c"
