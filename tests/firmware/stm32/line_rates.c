/* The console's line of an STM32F407 at 115200 baud, and USART2 at other rates, in another format: it sends, and prints
 * what it received, with the flags. And an access right after the enable of a clock. */
#include "board.h"
#include "console.h"
#include "mmio.h"

#define RCC 0x40023800u
#define GPIOB_MODER 0x40020400u
#define GPIOC_MODER 0x40020800u
#define USART2 0x40004400u
#define SR 0x00u
#define DR 0x04u
#define BRR 0x08u
#define CR1 0x0Cu
#define ON (1u << 13 | 1u << 3 | 1u << 2)

static void say(uint32_t divider, uint32_t format, const char *text)
{
    console_uart_flush();
    mmio_write(USART2, CR1, 0);
    mmio_write(USART2, BRR, divider);
    mmio_write(USART2, CR1, ON | format);
    for (; *text != 0; text++) {
        console_uart_put(*text);
    }
    console_uart_flush();
}

int main(void)
{
    /* 16 MHz / 115200 is 139; 2 % and 11 % off, half the rate, even parity. */
    say(142, 0, "near\n");
    say(278, 0, "h");
    /* Receives at half of the line's rate. */
    uint32_t received = 0, flags = 0;
    for (uint32_t look = 0; look < 20000u; look++) {
        uint32_t status = mmio_read(USART2, SR);
        if (status & 1u << 5) {
            flags |= status & 7u;
            received = received << 8 | (mmio_read(USART2, DR) & 0xFFu);
        }
    }
    say(139, 0, "");
    console_print("received %x flags %x\n", received, flags);
    /* The store, and another one in the next instruction; then with the register read back. */
    uint32_t enables = mmio_read(RCC, 0x30) | 1u << 1, value;
    __asm__ volatile("str %0, [%1]\n str %0, [%2]"
                     :
                     : "r"(enables), "r"(RCC + 0x30u), "r"(GPIOB_MODER)
                     : "memory");
    __asm__ volatile("str %1, [%2]\n ldr %0, [%2]\n ldr %0, [%3]"
                     : "=&r"(value)
                     : "r"(enables | 1u << 2), "r"(RCC + 0x30u), "r"(GPIOC_MODER)
                     : "memory");
    return 0;
}
