/* GPIO of an STM32 (RM0090, RM0432 and RM0436, GPIO registers): pins for peripherals. */
#ifndef STM32_GPIO_H
#define STM32_GPIO_H

#include <stdint.h>

/* The pin is a peripheral's, by its alternate function: push-pull, fast, without a pull resistor. */
void stm32_gpio_alternate(uintptr_t port, uint32_t pin, uint32_t function);

/* The pin is open-drain from now on, as I2C's are. */
void stm32_gpio_open_drain(uintptr_t port, uint32_t pin);

#endif
