#include "gpiolib.h"

#include "console.h"
#include "error.h"

#include <stddef.h>

enum flag {
    FLAG_REQUESTED = 1u << 0,
    FLAG_IS_OUT = 1u << 1,
    FLAG_OPEN_DRAIN = 1u << 2,
    FLAG_OPEN_SOURCE = 1u << 3,
};

struct gpio_descriptor {
    struct gpio_chip *chip;
    unsigned flags;
    const char *label;
};

static struct gpio_descriptor descriptors[GPIOLIB_COUNT];

/* Each look at a flag is one at memory, as with Linux's test_bit: interrupt handlers may change flags, too. */
static inline bool has_flag(const struct gpio_descriptor *pin, unsigned flag)
{
    return (*(const volatile unsigned *)&pin->flags & flag) != 0;
}

int gpiolib_chip_add(struct gpio_chip *chip)
{
    if (chip->base >= GPIOLIB_COUNT || chip->pins > GPIOLIB_COUNT - chip->base) {
        return ERROR_NO_PIN;
    }
    for (unsigned gpio = chip->base; gpio < chip->base + chip->pins; gpio++) {
        if (descriptors[gpio].chip) {
            return ERROR_BUSY;
        }
    }
    for (unsigned gpio = chip->base; gpio < chip->base + chip->pins; gpio++) {
        descriptors[gpio].chip = chip;
    }
    chip->descriptors = &descriptors[chip->base];
    return 0;
}

int gpiolib_request(unsigned gpio, const char *label)
{
    if (gpio >= GPIOLIB_COUNT || !descriptors[gpio].chip) {
        return ERROR_NO_PIN;
    }
    if (descriptors[gpio].flags & FLAG_REQUESTED) {
        return ERROR_BUSY;
    }
    descriptors[gpio].flags |= FLAG_REQUESTED;
    descriptors[gpio].label = label;
    return 0;
}

void gpiolib_free(unsigned gpio)
{
    if (gpio < GPIOLIB_COUNT) {
        descriptors[gpio].flags = 0;
        descriptors[gpio].label = NULL;
    }
}

const char *gpiolib_label(unsigned gpio)
{
    return gpio < GPIOLIB_COUNT ? descriptors[gpio].label : NULL;
}

static struct gpio_descriptor *requested(unsigned gpio)
{
    return gpio < GPIOLIB_COUNT && descriptors[gpio].flags & FLAG_REQUESTED ? &descriptors[gpio] : NULL;
}

int gpiolib_direction_input(unsigned gpio)
{
    struct gpio_descriptor *pin = requested(gpio);

    if (!pin || !pin->chip->get || !pin->chip->direction_input) {
        return ERROR_NO_PIN;
    }
    int error = pin->chip->direction_input(pin->chip, gpio - pin->chip->base);
    if (!error) {
        pin->flags &= ~(unsigned)FLAG_IS_OUT;
    }
    return error;
}

int gpiolib_direction_output(unsigned gpio, int value)
{
    struct gpio_descriptor *pin = requested(gpio);

    if (!pin || !pin->chip->set || !pin->chip->direction_output) {
        return ERROR_NO_PIN;
    }
    int error = pin->chip->direction_output(pin->chip, gpio - pin->chip->base, value);
    if (!error) {
        pin->flags |= FLAG_IS_OUT;
    }
    return error;
}

int gpiolib_set_drive(unsigned gpio, enum gpio_drive drive)
{
    struct gpio_descriptor *pin = requested(gpio);

    if (!pin) {
        return ERROR_NO_PIN;
    }
    pin->flags &= ~(unsigned)(FLAG_OPEN_DRAIN | FLAG_OPEN_SOURCE);
    if (drive == GPIO_OPEN_DRAIN) {
        pin->flags |= FLAG_OPEN_DRAIN;
    } else if (drive == GPIO_OPEN_SOURCE) {
        pin->flags |= FLAG_OPEN_SOURCE;
    }
    return 0;
}

static void warn_sleeping(unsigned gpio)
{
    console_print("gpio %u: its chip may sleep, its user must not\n", gpio);
}

/* One of the two levels is the line's own, `released`; the other is driven. */
static void set_open(struct gpio_descriptor *pin, unsigned offset, int value, int released)
{
    int error = value == released ? pin->chip->direction_input(pin->chip, offset)
                                  : pin->chip->direction_output(pin->chip, offset, value);
    if (error) {
        console_print("gpio %u: %s\n", pin->chip->base + offset, error_text(error));
        return;
    }
    pin->flags = value == released ? pin->flags & ~(unsigned)FLAG_IS_OUT : pin->flags | FLAG_IS_OUT;
}

static void warn_number(unsigned gpio)
{
    console_print("gpio %u: there is no such pin\n", gpio);
}

static struct gpio_descriptor *descriptor_of(unsigned gpio)
{
    if (__builtin_expect(gpio >= GPIOLIB_COUNT, 0)) {
        warn_number(gpio);
        return NULL;
    }
    return &descriptors[gpio];
}

static inline unsigned offset_of(const struct gpio_descriptor *pin)
{
    return (unsigned)(pin - pin->chip->descriptors);
}

int gpiolib_get_value(unsigned gpio)
{
    struct gpio_descriptor *pin = descriptor_of(gpio);

    if (!pin) {
        return 0;
    }
    struct gpio_chip *chip = pin->chip;
    unsigned offset = offset_of(pin);
    if (__builtin_expect(chip->can_sleep, 0)) {
        warn_sleeping(gpio);
    }
    return chip->get ? chip->get(chip, offset) : 0;
}

void gpiolib_set_value(unsigned gpio, int value)
{
    struct gpio_descriptor *pin = descriptor_of(gpio);

    if (!pin) {
        return;
    }
    struct gpio_chip *chip = pin->chip;
    if (__builtin_expect(chip->can_sleep, 0)) {
        warn_sleeping(gpio);
    }
    if (has_flag(pin, FLAG_OPEN_DRAIN)) {
        set_open(pin, offset_of(pin), !!value, 1);
    } else if (has_flag(pin, FLAG_OPEN_SOURCE)) {
        set_open(pin, offset_of(pin), !!value, 0);
    } else {
        chip->set(chip, offset_of(pin), value);
    }
}

int gpiolib_to_irq(unsigned gpio)
{
    struct gpio_chip *chip = gpio < GPIOLIB_COUNT ? descriptors[gpio].chip : NULL;

    return chip && chip->to_irq ? chip->to_irq(chip, gpio - chip->base) : ERROR_NO_PIN;
}
