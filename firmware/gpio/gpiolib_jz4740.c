#include "gpiolib_jz4740.h"

#include "gpiolib.h"
#include "jz4740_gpio.h"
#include "list.h"

#define PORTS 4u
#define PORT_PINS 32u

/* Each access works the address out from the chip, as Linux's driver does. */
struct port {
    uintptr_t base;
    struct gpio_chip chip;
};

static inline struct port *port_of(struct gpio_chip *chip)
{
    return container_of(chip, struct port, chip);
}

static int get(struct gpio_chip *chip, unsigned offset)
{
    return !!(mmio_read(port_of(chip)->base, GPIO_PIN) & 1u << offset);
}

static void set(struct gpio_chip *chip, unsigned offset, int value)
{
    mmio_write(port_of(chip)->base, value ? GPIO_DATS : GPIO_DATC, 1u << offset);
}

static int direction_input(struct gpio_chip *chip, unsigned offset)
{
    mmio_write(port_of(chip)->base, GPIO_DIRC, 1u << offset);
    return 0;
}

/* The level first: no glitch between the two. */
static int direction_output(struct gpio_chip *chip, unsigned offset, int value)
{
    set(chip, offset, value);
    mmio_write(port_of(chip)->base, GPIO_DIRS, 1u << offset);
    return 0;
}

static int to_irq(struct gpio_chip *chip, unsigned offset)
{
    return (int)irq_of_pin(chip->base / PORT_PINS, offset);
}

#define PORT(letter, number)                                \
    {                                                       \
        .base = BOARD_GPIO_BASE + (number) * GPIO_PORT_BYTES, \
        .chip = {                                           \
            .label = "port " letter,                        \
            .base = (number) * PORT_PINS,                   \
            .pins = PORT_PINS,                              \
            .direction_input = direction_input,             \
            .direction_output = direction_output,           \
            .get = get,                                     \
            .set = set,                                     \
            .to_irq = to_irq,                               \
        },                                                  \
    }

static struct port ports[PORTS] = {PORT("A", 0), PORT("B", 1), PORT("C", 2), PORT("D", 3)};

int gpiolib_jz4740_start(void)
{
    for (unsigned i = 0; i < PORTS; i++) {
        int error = gpiolib_chip_add(&ports[i].chip);
        if (error) {
            return error;
        }
    }
    return 0;
}

void gpiolib_jz4740_port_direction_input(unsigned gpio, uint32_t mask)
{
    mmio_write(ports[gpio / PORT_PINS].base, GPIO_DIRC, mask);
}

void gpiolib_jz4740_port_direction_output(unsigned gpio, uint32_t mask)
{
    mmio_write(ports[gpio / PORT_PINS].base, GPIO_DIRS, mask);
}

void gpiolib_jz4740_port_set_value(unsigned gpio, uint32_t value, uint32_t mask)
{
    mmio_write(ports[gpio / PORT_PINS].base, GPIO_DATC, ~value & mask);
    mmio_write(ports[gpio / PORT_PINS].base, GPIO_DATS, value & mask);
}
