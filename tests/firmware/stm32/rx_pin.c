/* USART2 of an STM32F407, the console, with and without a pin for RX: how many characters come in, and the last one. */
#include "board.h"
#include "console.h"
#include "mmio.h"
#include "stm32_gpio.h"

#define GPIOA 0x40020000u
#define USART2 0x40004400u
#define SR 0x00u
#define DR 0x04u
#define RXNE (1u << 5)
/* Some milliseconds. */
#define LOOKS 20000u

static void listen(const char *what)
{
    uint32_t count = 0, last = 0;

    console_print("%s\n", what);
    for (uint32_t look = 0; look < LOOKS; look++) {
        if (mmio_read(USART2, SR) & RXNE) {
            last = mmio_read(USART2, DR);
            count++;
        }
    }
    console_print("received %u, %x\n", count, last);
}

int main(void)
{
    /* PA3 is an input. */
    mmio_write(GPIOA, 0, mmio_read(GPIOA, 0) & ~(3u << 6));
    listen("off");
    stm32_gpio_alternate(GPIOA, 3, 7);
    listen("on");
    return 0;
}
