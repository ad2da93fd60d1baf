/* NUCLEO-F411RE: LD2 (PA5) blinks, and faster while B1 (PC13) is pressed. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define RCC_AHB1ENR REGISTER(0x40023830)
#define GPIOA_MODER REGISTER(0x40020000)
#define GPIOA_ODR REGISTER(0x40020014)
#define GPIOC_IDR REGISTER(0x40020810)
#define SYST_CSR REGISTER(0xe000e010)
#define SYST_RVR REGISTER(0xe000e014)

void reset(void);

/* First in the flash: the stack, and where the core begins. */
__attribute__((section(".vectors"), used)) void *const vectors[] = {
    (void *)0x20020000, (void *)reset};

static void wait_ms(uint32_t ms)
{
    while (ms > 0)
        ms -= SYST_CSR >> 16 & 1;
}

void reset(void)
{
    RCC_AHB1ENR |= 1 << 0 | 1 << 2;
    (void)RCC_AHB1ENR;
    GPIOA_MODER = (GPIOA_MODER & ~(3u << 10)) | 1u << 10;
    SYST_RVR = 16000 - 1; /* 1 ms at 16 MHz */
    SYST_CSR = 5;
    for (;;) {
        GPIOA_ODR ^= 1 << 5;
        wait_ms(GPIOC_IDR & 1 << 13 ? 250 : 50);
    }
}
