/* Pins by number, whatever controller they are on: each controller is a chip in a table, and each pin has a descriptor.
   The structure is that of Linux's gpiolib as of 3.9, which works with descriptors: a pin's number on its chip is
   worked out from where its descriptor is. */
#ifndef GPIOLIB_H
#define GPIOLIB_H

#include <stdbool.h>

#define GPIOLIB_COUNT 128u

enum gpio_drive { GPIO_PUSH_PULL, GPIO_OPEN_DRAIN, GPIO_OPEN_SOURCE };

struct gpio_descriptor;

struct gpio_chip {
    const char *label;
    unsigned base;  /* the number of its first pin */
    unsigned pins;
    bool can_sleep; /* behind a bus: its pins are not for code that must not wait */
    struct gpio_descriptor *descriptors; /* of its pins, from gpiolib_chip_add on */

    /* All get the pin's number on the chip. Functions that can fail return 0 or an error (error.h). */
    int (*direction_input)(struct gpio_chip *chip, unsigned offset);
    int (*direction_output)(struct gpio_chip *chip, unsigned offset, int value);
    int (*get)(struct gpio_chip *chip, unsigned offset);
    void (*set)(struct gpio_chip *chip, unsigned offset, int value);
    int (*to_irq)(struct gpio_chip *chip, unsigned offset);
};

/* Makes a chip's pins known. ERROR_NO_PIN if they are beyond GPIOLIB_COUNT, ERROR_BUSY if another chip has one of
 * them. */
int gpiolib_chip_add(struct gpio_chip *chip);

static inline bool gpiolib_is_valid(int gpio)
{
    return gpio >= 0 && (unsigned)gpio < GPIOLIB_COUNT;
}

/* Takes a pin for `label`. ERROR_NO_PIN if no chip has it, ERROR_BUSY if someone has taken it. */
int gpiolib_request(unsigned gpio, const char *label);
void gpiolib_free(unsigned gpio);

/* The user of the pin; 0 without one. */
const char *gpiolib_label(unsigned gpio);

/* Of a pin that was taken; ERROR_NO_PIN for any other. */
int gpiolib_direction_input(unsigned gpio);
int gpiolib_direction_output(unsigned gpio, int value);
/* Which levels an output drives; the other one is the line's own, by a resistor. Holds from the next gpiolib_set_value
 * on. */
int gpiolib_set_drive(unsigned gpio, enum gpio_drive drive);

/* A pin's level now. */
int gpiolib_get_value(unsigned gpio);
void gpiolib_set_value(unsigned gpio, int value);

/* The interrupt of a pin (irq.h), or an error. */
int gpiolib_to_irq(unsigned gpio);

#endif
