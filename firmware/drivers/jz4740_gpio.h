/* GPIO ports of the JZ4740 (programming manual, chapter General-Purpose I/O Ports): port 0 to 3 are A to D, 32 pins
 * each. */
#ifndef JZ4740_GPIO_H
#define JZ4740_GPIO_H

#include "board.h"
#include "irq.h"
#include "mmio.h"

#include <stdbool.h>
#include <stdint.h>

/* One port's registers, 0x100 apart. S sets the bits that are written as 1, C clears them. */
#define GPIO_PIN 0x00u  /* levels */
#define GPIO_DAT 0x10u  /* outputs, or with SEL and FUN interrupts */
#define GPIO_DATS 0x14u
#define GPIO_DATC 0x18u
#define GPIO_IM 0x20u /* 1: the interrupt is masked */
#define GPIO_IMS 0x24u
#define GPIO_IMC 0x28u
#define GPIO_PE 0x30u /* 1: no pull-up or pull-down */
#define GPIO_PES 0x34u
#define GPIO_PEC 0x38u
#define GPIO_FUN 0x40u /* 1: a device's pin */
#define GPIO_FUNS 0x44u
#define GPIO_FUNC 0x48u
#define GPIO_SEL 0x50u /* with FUN 0: 1 is an interrupt; with FUN 1: the device */
#define GPIO_SELS 0x54u
#define GPIO_SELC 0x58u
#define GPIO_DIR 0x60u /* 1: output; of an interrupt, 1: rising edge or high level */
#define GPIO_DIRS 0x64u
#define GPIO_DIRC 0x68u
#define GPIO_TRG 0x70u /* 1: edge; with FUN 1: the device */
#define GPIO_TRGS 0x74u
#define GPIO_TRGC 0x78u
#define GPIO_FLG 0x80u  /* interrupts that came */
#define GPIO_FLGC 0x14u /* the place of DATS, which such pins do not have */

#define GPIO_PORT_BYTES 0x100u

/* The function of a pin. */
enum gpio_function {
    GPIO_FUNCTION_PORT, /* input or output */
    GPIO_FUNCTION_0,    /* the first device that the data sheet has for it, and so on */
    GPIO_FUNCTION_1,
    GPIO_FUNCTION_2,
};

/* Pins are counted through all ports: PD11 is GPIO_PIN_OF(3, 11). */
#define GPIO_PIN_OF(port, pin) ((port) * 32u + (pin))

static inline uintptr_t gpio_base(uint32_t gpio)
{
    return BOARD_GPIO_BASE + (gpio >> 5) * GPIO_PORT_BYTES;
}

static inline uint32_t gpio_mask(uint32_t gpio)
{
    return 1u << (gpio & 31u);
}

void gpio_set_function(uint32_t gpio, enum gpio_function function);
void gpio_set_pull(uint32_t gpio, bool on);

/* For irq.c: controllers of pins' interrupts. `port` is 0 to 3. */
void gpio_irq_start(void);
void gpio_irq_mask(uint32_t gpio);
void gpio_irq_unmask(uint32_t gpio);
void gpio_irq_acknowledge(uint32_t gpio);
void gpio_irq_set_trigger(uint32_t gpio, enum irq_trigger trigger);
uint32_t gpio_irq_flags(uint32_t port);

#endif
