/* A system timer that ticks every other cycle, with an interrupt each time. */
#include <stdint.h>

#define SYST_CSR (*(volatile uint32_t *)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018u)

void SysTick_Handler(void);

void SysTick_Handler(void)
{
}

int main(void)
{
    SYST_RVR = 1;
    SYST_CVR = 0;
    SYST_CSR = 7;
    for (;;) {
    }
}
