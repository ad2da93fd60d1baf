/* Hardware semaphores of the STM32MP157 (RM0436, HSEM): locks that both processors see. */
#ifndef STM32_HSEM_H
#define STM32_HSEM_H

#include <stdbool.h>
#include <stdint.h>

#define HSEM_SEMAPHORES 32u

/* Turns the clock on. */
void hsem_start(void);

/* Tries to take a semaphore; false if another processor has it. */
bool hsem_take(uint32_t semaphore);

/* Releases a semaphore that this processor took. */
void hsem_release(uint32_t semaphore);

#endif
