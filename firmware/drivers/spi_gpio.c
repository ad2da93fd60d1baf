/* SPI over four pins of any kind, bit by bit: two calls down the pins' table for each edge of the clock. Structure:
   Linux 3.8, spi-gpio. Another source can define SPI_GPIO_NAME and what depends on it, and include this one
   (spi_gpio_atben.c). */
#include "spi_gpio.h"

#include "console.h"
#include "error.h"
#include "gpiolib.h"
#include "spi_bitbang.h"

#ifndef SPI_GPIO_NAME
#define SPI_GPIO_NAME spi_gpio
/* Of the device, found anew at each access. */
#define SPI_MISO_GPIO ((unsigned)pins_of(spi)->miso)
#define SPI_MOSI_GPIO ((unsigned)pins_of(spi)->mosi)
#define SPI_SCK_GPIO (pins_of(spi)->sck)
#endif

#define JOIN_(left, right) left##right
#define JOIN(left, right) JOIN_(left, right)
#define TEXT_(word) #word
#define TEXT(word) TEXT_(word)

#define STACK_BYTES 2048

struct spi_gpio {
    struct spi_bitbang bitbang;
    struct spi_gpio_pins pins;
    int chip_select_gpio;
    struct spi_bitbang_device device_state;
};

static struct spi_gpio spi_gpio;
THREAD_STACK(stack, STACK_BYTES);

static inline struct spi_gpio *spi_gpio_of(const struct spi_device *spi)
{
    struct spi_bitbang *bitbang = spi_master_data(spi->master);
    return container_of(bitbang, struct spi_gpio, bitbang);
}

static inline const struct spi_gpio_pins *pins_of(const struct spi_device *spi)
{
    return &spi_gpio_of(spi)->pins;
}

static inline void put_clock(const struct spi_device *spi, int level)
{
    (void)spi; /* of no use if pins are constants */
    gpiolib_set_value(SPI_SCK_GPIO, level);
}

static inline void put_mosi(const struct spi_device *spi, int level)
{
    (void)spi;
    gpiolib_set_value(SPI_MOSI_GPIO, level);
}

static inline int take_miso(const struct spi_device *spi)
{
    (void)spi;
    return !!gpiolib_get_value(SPI_MISO_GPIO);
}

/* As fast as it goes: the accesses themselves are slower than the devices. */
#define half_period(nsecs) ((void)(nsecs))

#include "spi_bitbang_txrx.h"

static uint32_t word_in_mode0(struct spi_device *spi, unsigned nsecs, unsigned flags, uint32_t word, uint8_t bits)
{
    (void)flags; /* both pins are there, and are driven and read whatever is wanted */
    return bitbang_first_edge(spi, nsecs, 0, 0, word, bits);
}

static uint32_t word_in_mode1(struct spi_device *spi, unsigned nsecs, unsigned flags, uint32_t word, uint8_t bits)
{
    (void)flags;
    return bitbang_second_edge(spi, nsecs, 0, 0, word, bits);
}

static uint32_t word_in_mode2(struct spi_device *spi, unsigned nsecs, unsigned flags, uint32_t word, uint8_t bits)
{
    (void)flags;
    return bitbang_first_edge(spi, nsecs, 1, 0, word, bits);
}

static uint32_t word_in_mode3(struct spi_device *spi, unsigned nsecs, unsigned flags, uint32_t word, uint8_t bits)
{
    (void)flags;
    return bitbang_second_edge(spi, nsecs, 1, 0, word, bits);
}

/* Without one of the data pins: the master's flags say which. */
static uint32_t word_one_way(struct spi_device *spi, unsigned nsecs, unsigned flags, uint32_t word, uint8_t bits)
{
    int cpol = !!(spi->mode & SPI_CPOL);

    flags = spi->master->flags;
    return spi->mode & SPI_CPHA ? bitbang_second_edge(spi, nsecs, cpol, flags, word, bits)
                                : bitbang_first_edge(spi, nsecs, cpol, flags, word, bits);
}

static void chipselect(struct spi_device *spi, bool active)
{
    int gpio = spi_gpio_of(spi)->chip_select_gpio;

    if (active) {
        put_clock(spi, !!(spi->mode & SPI_CPOL));
    }
    if (gpiolib_is_valid(gpio)) {
        gpiolib_set_value((unsigned)gpio, spi->mode & SPI_CS_HIGH ? active : !active);
    }
}

static int setup(struct spi_device *spi)
{
    struct spi_gpio *owner = spi_gpio_of(spi);

    if (spi->bits_per_word > 32) {
        return ERROR_INVALID;
    }
    if (!spi->controller_state) {
        owner->chip_select_gpio = spi->chip_select_gpio;
        if (gpiolib_is_valid(spi->chip_select_gpio)) {
            unsigned gpio = (unsigned)spi->chip_select_gpio;
            int error = gpiolib_request(gpio, spi->device.name);
            if (!error) {
                error = gpiolib_direction_output(gpio, !(spi->mode & SPI_CS_HIGH));
            }
            if (error) {
                return error;
            }
        }
        spi->controller_state = &owner->device_state;
    }
    return spi_bitbang_setup(spi);
}

static int take_pin(unsigned gpio, const char *label, bool is_input)
{
    int error = gpiolib_request(gpio, label);

    if (!error) {
        error = is_input ? gpiolib_direction_input(gpio) : gpiolib_direction_output(gpio, 0);
    }
    if (error) {
        console_print("%s: pin %u: %s\n", label, gpio, error_text(error));
    }
    return error;
}

static int take_pins(const struct spi_gpio_pins *pins, const char *label, uint16_t *flags)
{
    int error = 0;

    if (pins->mosi >= 0) {
        error = take_pin((unsigned)pins->mosi, label, false);
    } else {
        *flags |= SPI_MASTER_NO_TX;
    }
    if (pins->miso < 0) {
        *flags |= SPI_MASTER_NO_RX;
    } else if (!error) {
        error = take_pin((unsigned)pins->miso, label, true);
    }
    return error ? error : take_pin(pins->sck, label, false);
}

int JOIN(SPI_GPIO_NAME, _probe)(struct device *device, struct spi_master **master)
{
    static spi_txrx_word *const words[] = {word_in_mode0, word_in_mode1, word_in_mode2, word_in_mode3};
    struct spi_bitbang *bitbang = &spi_gpio.bitbang;
    const struct spi_gpio_pins *pins = device->platform_data;

    device->name = TEXT(SPI_GPIO_NAME);
    spi_gpio.pins = *pins;
    spi_master_init(&bitbang->master, device->name, bitbang);
    bitbang->master.chip_selects = pins->chip_selects;
    bitbang->master.mode_bits = SPI_CPOL | SPI_CPHA | SPI_CS_HIGH;
    bitbang->master.setup = setup;
    bitbang->chipselect = chipselect;
    int error = take_pins(pins, device->name, &bitbang->master.flags);
    if (error) {
        return error;
    }
    for (unsigned mode = 0; mode < 4; mode++) {
        bitbang->txrx_word[mode] = bitbang->master.flags ? word_one_way : words[mode];
    }
    *master = &bitbang->master;
    return spi_bitbang_start(bitbang, stack, sizeof stack);
}
