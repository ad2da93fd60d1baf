/* The Cortex-M4 of an STM32MP157: UART7 sends through PE8, which is its pin when the program begins, through none, and
 * through PF7. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define RCC_MC_APB1ENSETR REGISTER(0x50000a80u)
#define RCC_MC_AHB4ENSETR REGISTER(0x50000aa8u)
#define UART7 0x40018000u
#define CR1 REGISTER(UART7 + 0x00u)
#define BRR REGISTER(UART7 + 0x0cu)
#define ISR REGISTER(UART7 + 0x1cu)
#define TDR REGISTER(UART7 + 0x28u)
#define GPIOE 0x50006000u
#define GPIOF 0x50007000u
#define MODER(port) REGISTER((port) + 0x00u)
#define AFRL(port) REGISTER((port) + 0x20u)

extern uint32_t stack_top[];
void reset(void);

static void print(const char *text)
{
    while (*text) {
        while (!(ISR & 1u << 7)) {
        }
        TDR = (uint8_t)*text++;
    }
    while (!(ISR & 1u << 6)) {
    }
}

void reset(void)
{
    static const uint32_t block[2] = {0x20026u, 0};
    register uint32_t r0 __asm__("r0") = 0x20u;
    register const uint32_t *r1 __asm__("r1") = block;

    RCC_MC_APB1ENSETR = 1u << 18;
    BRR = 64000000u / 115200u;
    CR1 = 1u << 3 | 1u << 0;
    print("at PE8\n");
    RCC_MC_AHB4ENSETR = 1u << 4 | 1u << 5;
    MODER(GPIOE) |= 3u << 16;
    print("nowhere\n");
    AFRL(GPIOF) = 7u << 28;
    MODER(GPIOF) = (MODER(GPIOF) & ~(3u << 14)) | 2u << 14;
    print("at PF7\n");
    __asm__ volatile("bkpt 0xab" ::"r"(r0), "r"(r1) : "memory");
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void *const vectors[2] = {stack_top, (void *)reset};
