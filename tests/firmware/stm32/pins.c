/* Pin functions of an STM32F407: what leaves the chip with a pin's function, and what does not. The console is USART2
 * at PA2, which the board's start has set up. */
#include "board.h"
#include "console.h"
#include "mmio.h"
#include "stm32_gpio.h"

#define RCC 0x40023800u
#define GPIOA 0x40020000u
#define GPIOD 0x40020C00u
#define GPIOE 0x40021000u
#define USART2 0x40004400u
#define SPI1 0x40013000u
#define TIM4 0x40000800u
#define MODER 0x00u
#define IDR 0x10u
#define BSRR 0x18u

static void set_mode(uintptr_t port, uint32_t pin, uint32_t mode)
{
    mmio_write(port, MODER, (mmio_read(port, MODER) & ~(3u << 2 * pin)) | mode << 2 * pin);
}

/* Sends a line and waits for its end. */
static void say(const char *text)
{
    for (; *text != 0; text++) {
        console_uart_put(*text);
    }
    console_uart_flush();
}

static uint32_t who_am_i(void)
{
    mmio_write(GPIOE, BSRR, 1u << (3 + 16));
    uint32_t answer = 0;
    for (uint32_t word = 0; word < 2; word++) {
        mmio_write(SPI1, 0x0C, word == 0 ? 0x8Fu : 0);
        while ((mmio_read(SPI1, 0x08) & 1u) == 0) {
        }
        answer = mmio_read(SPI1, 0x0C);
    }
    mmio_write(GPIOE, BSRR, 1u << 3);
    return answer;
}

/* The level of PD12 with TIM4_CH1 forced high and low. */
static uint32_t forced_levels(void)
{
    mmio_write(TIM4, 0x18, 5u << 4);
    uint32_t high = mmio_read(GPIOD, IDR) >> 12 & 1u;
    mmio_write(TIM4, 0x18, 4u << 4);
    return high << 4 | (mmio_read(GPIOD, IDR) >> 12 & 1u);
}

int main(void)
{
    mmio_write(RCC, 0x30, mmio_read(RCC, 0x30) | 1u << 0 | 1u << 3 | 1u << 4);
    mmio_write(RCC, 0x40, mmio_read(RCC, 0x40) | 1u << 2);
    mmio_write(RCC, 0x44, mmio_read(RCC, 0x44) | 1u << 12);
    (void)mmio_read(RCC, 0x44);

    say("at PA2\n");
    set_mode(GPIOA, 2, 0);
    say("nowhere\n");
    stm32_gpio_alternate(GPIOD, 5, 7);
    say("at PD5\n");
    stm32_gpio_alternate(GPIOA, 2, 1);
    say("as TIM2_CH3\n");
    stm32_gpio_alternate(GPIOA, 2, 7);
    say("at PA2 again\n");

    mmio_write(GPIOE, BSRR, 1u << 3);
    set_mode(GPIOE, 3, 1);
    mmio_write(SPI1, 0x00, 1u << 2 | 1u << 3 | 1u << 6 | 3u << 8);
    console_print("without pins %02x\n", who_am_i());
    stm32_gpio_alternate(GPIOA, 5, 5);
    stm32_gpio_alternate(GPIOA, 7, 5);
    console_print("without MISO %02x\n", who_am_i());
    stm32_gpio_alternate(GPIOA, 6, 5);
    console_print("with pins %02x\n", who_am_i());

    mmio_write(TIM4, 0x20, 1);
    mmio_write(TIM4, 0x00, 1);
    console_print("an input %02x\n", forced_levels());
    stm32_gpio_alternate(GPIOD, 12, 2);
    console_print("TIM4_CH1 %02x\n", forced_levels());
    stm32_gpio_alternate(GPIOD, 12, 3);
    console_print("another's %02x\n", forced_levels());
    return 0;
}
