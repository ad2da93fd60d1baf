#include "stm32_gpio.h"

#include "mmio.h"

#define GPIO_MODER 0x00u
#define GPIO_OTYPER 0x04u
#define GPIO_OSPEEDR 0x08u
#define GPIO_PUPDR 0x0Cu
/* The functions of eight pins; the next eight in the next register. */
#define GPIO_AFRL 0x20u

#define MODE_ALTERNATE 2u
#define SPEED_FAST 2u

static void set_field(uintptr_t port, uint32_t offset, uint32_t shift, uint32_t mask, uint32_t value)
{
    uint32_t others = mmio_read(port, offset) & ~(mask << shift);

    mmio_write(port, offset, others | value << shift);
}

void stm32_gpio_alternate(uintptr_t port, uint32_t pin, uint32_t function)
{
    set_field(port, GPIO_OTYPER, pin, 1, 0);
    set_field(port, GPIO_OSPEEDR, 2 * pin, 3, SPEED_FAST);
    set_field(port, GPIO_PUPDR, 2 * pin, 3, 0);
    set_field(port, GPIO_AFRL + pin / 8 * 4, pin % 8 * 4, 0xF, function);
    set_field(port, GPIO_MODER, 2 * pin, 3, MODE_ALTERNATE);
}

void stm32_gpio_open_drain(uintptr_t port, uint32_t pin)
{
    mmio_write(port, GPIO_OTYPER, mmio_read(port, GPIO_OTYPER) | 1u << pin);
}
