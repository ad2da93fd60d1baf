/* An LM75 on two pins of port D, by hand: SDA on PD8, SCL on PD11. A line is pulled low as an output, and let go as an
 * input; each step takes at least 5 us. */
#include "board.h"
#include "clock.h"
#include "console.h"
#include "jz4740_gpio.h"

#define PORT_D 3u
#define SDA GPIO_PIN_OF(PORT_D, 8u)
#define SCL GPIO_PIN_OF(PORT_D, 11u)
#define STEP_US 5u
#define LM75 0x48u
#define CONVERSION_US 150000u

static void wait_us(uint32_t microseconds)
{
    uint64_t end = clock_ticks() + clock_ticks_of_us(microseconds);

    while (clock_ticks() < end) {
    }
}

static void set(uint32_t line, unsigned level)
{
    mmio_write(gpio_base(line), level ? GPIO_DIRC : GPIO_DIRS, gpio_mask(line));
    wait_us(STEP_US);
}

static unsigned get(uint32_t line)
{
    return (mmio_read(gpio_base(line), GPIO_PIN) & gpio_mask(line)) != 0;
}

/* The chip may keep the clock low. */
static void raise_clock(void)
{
    set(SCL, 1);
    while (!get(SCL)) {
    }
}

static void start(void)
{
    set(SDA, 1);
    raise_clock();
    set(SDA, 0);
    set(SCL, 0);
}

static void stop(void)
{
    set(SDA, 0);
    raise_clock();
    set(SDA, 1);
}

static unsigned bit(unsigned level)
{
    set(SDA, level);
    raise_clock();
    unsigned seen = get(SDA);
    set(SCL, 0);
    return seen;
}

static unsigned acknowledged(uint8_t byte)
{
    for (unsigned left = 8; left-- > 0;) {
        bit(byte >> left & 1);
    }
    return !bit(1);
}

static uint8_t receive(unsigned last)
{
    unsigned byte = 0;

    for (unsigned count = 0; count < 8; count++) {
        byte = byte << 1 | bit(1);
    }
    bit(last);
    return (uint8_t)byte;
}

int main(void)
{
    for (unsigned line = 0; line < 2; line++) {
        uint32_t gpio = line ? SCL : SDA;

        gpio_set_function(gpio, GPIO_FUNCTION_PORT);
        /* The board has pull-ups. */
        gpio_set_pull(gpio, false);
        mmio_write(gpio_base(gpio), GPIO_DIRC, gpio_mask(gpio));
        mmio_write(gpio_base(gpio), GPIO_DATC, gpio_mask(gpio));
    }
    wait_us(CONVERSION_US);
    start();
    unsigned answered = acknowledged(LM75 << 1) && acknowledged(0);
    start();
    answered = acknowledged(LM75 << 1 | 1) && answered;
    unsigned upper = receive(0);
    unsigned lower = receive(1);
    stop();
    console_print("%s %u.%u C\n", answered ? "read" : "no answer", upper, lower ? 5u : 0u);
    return 0;
}
