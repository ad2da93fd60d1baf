/* Core clocks beside the one out of reset, one after the other, and how the flash is read at each. */
#ifndef STM32_RATES_H
#define STM32_RATES_H

#include <stdbool.h>
#include <stdint.h>

/* FLASH_ACR, identical in STM32F4 and STM32L4+ (RM0090, RM0432). */
#define STM32_FLASH_PREFETCH (1u << 8)
#define STM32_FLASH_I_CACHE (1u << 9)
#define STM32_FLASH_D_CACHE (1u << 10)

/* A core clock, and the wait states that the flash needs at it. */
struct stm32_rate {
    uint32_t mhz;
    uint32_t wait_states;
};

/* From the clock out of reset to another one: first the wait states, then the PLL, then the switch. False if the
 * oscillator or the PLL never gets ready. */
bool stm32_rate_set(struct stm32_rate rate);

/* Back to the clock out of reset, and no wait states. */
void stm32_rate_reset(void);

/* Turns on those of the three and no other, with empty caches. */
void stm32_flash_accelerate(uint32_t accelerators);

#endif
