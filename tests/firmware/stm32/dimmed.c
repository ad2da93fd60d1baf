/* STM32F407 at 16 MHz: TIM4's first channel dims the light at PD12, a quarter of each millisecond, for 20 ms. */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define RCC_AHB1ENR REGISTER(0x40023830u)
#define RCC_APB1ENR REGISTER(0x40023840u)
#define GPIOD_MODER REGISTER(0x40020c00u)
#define GPIOD_AFRH REGISTER(0x40020c24u)
#define TIM4 0x40000800u
#define TIM_CR1 REGISTER(TIM4 + 0x00u)
#define TIM_SR REGISTER(TIM4 + 0x10u)
#define TIM_CCMR1 REGISTER(TIM4 + 0x18u)
#define TIM_CCER REGISTER(TIM4 + 0x20u)
#define TIM_PSC REGISTER(TIM4 + 0x28u)
#define TIM_ARR REGISTER(TIM4 + 0x2cu)
#define TIM_CCR1 REGISTER(TIM4 + 0x34u)

extern uint32_t stack_top[];
void reset(void);

void reset(void)
{
    RCC_AHB1ENR |= 1u << 3;
    RCC_APB1ENR |= 1u << 2;
    (void)RCC_APB1ENR;
    GPIOD_AFRH = (GPIOD_AFRH & ~(15u << 16)) | 2u << 16;
    GPIOD_MODER = (GPIOD_MODER & ~(3u << 24)) | 2u << 24;
    TIM_PSC = 16 - 1;
    TIM_ARR = 1000 - 1;
    TIM_CCR1 = 250;
    TIM_CCMR1 = 0x68;
    TIM_CCER = 1;
    TIM_CR1 = 0x81;
    for (uint32_t periods = 0; periods < 20; periods++) {
        while ((TIM_SR & 1u) == 0) {
        }
        TIM_SR = 0;
    }
    uint32_t block[2] = {0x20026u, 0};
    register uint32_t r0 __asm__("r0") = 0x20u;
    register uint32_t *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" ::"r"(r0), "r"(r1) : "memory");
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {stack_top, (void *)reset};
