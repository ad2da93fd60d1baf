/* The wait states of an STM32's flash, for drivers of its clocks. */
#ifndef STM32_FLASH_H
#define STM32_FLASH_H

#include <stdint.h>

/* Sets FLASH_ACR.LATENCY and waits until it is in force, as the manuals ask for. */
void stm32_flash_set_latency(uint32_t wait_states);

#endif
