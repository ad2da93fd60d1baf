#include "jz4740_gpio.h"

static void write_bit(uint32_t gpio, uint32_t offset)
{
    mmio_write(gpio_base(gpio), offset, gpio_mask(gpio));
}

void gpio_set_function(uint32_t gpio, enum gpio_function function)
{
    if (function == GPIO_FUNCTION_PORT) {
        write_bit(gpio, GPIO_FUNC);
        write_bit(gpio, GPIO_SELC);
        write_bit(gpio, GPIO_TRGC);
        return;
    }
    write_bit(gpio, GPIO_FUNS);
    write_bit(gpio, function == GPIO_FUNCTION_2 ? GPIO_TRGS : GPIO_TRGC);
    write_bit(gpio, function == GPIO_FUNCTION_1 ? GPIO_SELS : GPIO_SELC);
}

void gpio_set_pull(uint32_t gpio, bool on)
{
    write_bit(gpio, on ? GPIO_PEC : GPIO_PES);
}

void gpio_irq_start(void)
{
    for (uint32_t port = 0; port < 4; port++) {
        mmio_write(gpio_base(port * 32u), GPIO_IMS, UINT32_MAX);
    }
}

void gpio_irq_mask(uint32_t gpio)
{
    write_bit(gpio, GPIO_IMS);
}

void gpio_irq_unmask(uint32_t gpio)
{
    write_bit(gpio, GPIO_IMC);
}

void gpio_irq_acknowledge(uint32_t gpio)
{
    write_bit(gpio, GPIO_FLGC);
}

void gpio_irq_set_trigger(uint32_t gpio, enum irq_trigger trigger)
{
    bool high = trigger == IRQ_LEVEL_HIGH || trigger == IRQ_EDGE_RISING;
    bool edge = trigger == IRQ_EDGE_RISING || trigger == IRQ_EDGE_FALLING;

    gpio_irq_mask(gpio);
    write_bit(gpio, GPIO_FUNC);
    write_bit(gpio, high ? GPIO_DIRS : GPIO_DIRC);
    write_bit(gpio, edge ? GPIO_TRGS : GPIO_TRGC);
    write_bit(gpio, GPIO_SELS);
    /* Earlier edges of the pin are not an interrupt. */
    gpio_irq_acknowledge(gpio);
}

uint32_t gpio_irq_flags(uint32_t port)
{
    uintptr_t base = gpio_base(port * 32u);

    return mmio_read(base, GPIO_FLG) & ~mmio_read(base, GPIO_IM);
}
