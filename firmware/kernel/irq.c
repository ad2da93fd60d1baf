#include "irq.h"

#include "board.h"
#include "error.h"
#include "jz4740_gpio.h"
#include "jz4740_intc.h"
#include "kernel.h"

#include <stdbool.h>

#define GPIO_PORTS 4u

/* The ports' own sources, in falling order from port A on. */
#define PORT_SOURCE(port) (BOARD_IRQ_GPIO0 - (port))

struct interrupt {
    irq_handler *handler;
    void *arg;
    uint32_t disabled; /* enabled at 0 */
    bool is_level;     /* a pin's, by irq_set_trigger */
};

static struct interrupt interrupts[IRQ_COUNT];

static bool is_pin(uint32_t irq)
{
    return irq >= IRQ_GPIO_BASE;
}

static void mask(uint32_t irq)
{
    if (is_pin(irq)) {
        gpio_irq_mask(irq - IRQ_GPIO_BASE);
    } else {
        intc_mask(irq);
    }
}

/* A level's flag stays after the level is gone: what was served meanwhile must not come again. If the level is still
 * there, the flag is set anew. */
static void unmask(uint32_t irq)
{
    if (is_pin(irq)) {
        if (interrupts[irq].is_level) {
            gpio_irq_acknowledge(irq - IRQ_GPIO_BASE);
        }
        gpio_irq_unmask(irq - IRQ_GPIO_BASE);
    } else {
        intc_unmask(irq);
    }
}

void irq_start(void)
{
    intc_start();
    gpio_irq_start();
    for (uint32_t port = 0; port < GPIO_PORTS; port++) {
        intc_unmask(PORT_SOURCE(port));
    }
}

int request_irq(uint32_t irq, irq_handler *handler, void *arg)
{
    uint32_t before = irq_save();
    struct interrupt *interrupt = &interrupts[irq];
    int error = 0;

    if (interrupt->handler) {
        error = ERROR_BUSY;
    } else {
        interrupt->handler = handler;
        interrupt->arg = arg;
        interrupt->disabled = 0;
        unmask(irq);
    }
    irq_restore(before);
    return error;
}

void free_irq(uint32_t irq)
{
    uint32_t before = irq_save();

    mask(irq);
    interrupts[irq].handler = 0;
    irq_restore(before);
}

void irq_set_trigger(uint32_t irq, enum irq_trigger trigger)
{
    interrupts[irq].is_level = trigger == IRQ_LEVEL_HIGH || trigger == IRQ_LEVEL_LOW;
    gpio_irq_set_trigger(irq - IRQ_GPIO_BASE, trigger);
}

void disable_irq(uint32_t irq)
{
    uint32_t before = irq_save();

    if (interrupts[irq].disabled++ == 0) {
        mask(irq);
    }
    irq_restore(before);
}

void enable_irq(uint32_t irq)
{
    uint32_t before = irq_save();

    if (interrupts[irq].disabled == 0) {
        kernel_fault("an interrupt is enabled that is not disabled");
    }
    if (--interrupts[irq].disabled == 0) {
        unmask(irq);
    }
    irq_restore(before);
}

/* Masked while its handler runs: one whose level stays comes again after that, and not without end before. */
static void serve(uint32_t irq)
{
    struct interrupt *interrupt = &interrupts[irq];

    mask(irq);
    if (is_pin(irq)) {
        gpio_irq_acknowledge(irq - IRQ_GPIO_BASE);
    }
    if (interrupt->handler) {
        interrupt->handler(interrupt->arg);
        if (interrupt->disabled == 0 && interrupt->handler) {
            unmask(irq);
        }
    }
}

static uint32_t highest(uint32_t bits)
{
    return 31u - (uint32_t)__builtin_clz(bits);
}

static void serve_port(uint32_t port)
{
    uint32_t flags = gpio_irq_flags(port);

    if (flags) {
        serve(irq_of_pin(port, highest(flags)));
    }
}

void irq_handle(void)
{
    uint32_t pending = intc_pending();

    if (pending) {
        uint32_t source = highest(pending);
        uint32_t port = BOARD_IRQ_GPIO0 - source;

        interrupt_enter();
        if (port < GPIO_PORTS) {
            serve_port(port);
        } else {
            serve(source);
        }
        interrupt_leave();
    }
    preempt_schedule_irq();
}
