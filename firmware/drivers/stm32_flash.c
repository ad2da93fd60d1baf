/* FLASH_ACR of STM32F4 and STM32L4+ (RM0090 and RM0432, "Flash access control register"). */
#include "board.h"
#include "mmio.h"
#include "stm32_flash.h"
#include "stm32_rates.h"

#define FLASH_ACR 0x00u
#define FLASH_ACR_LATENCY 0xFu
#define FLASH_ACR_ACCELERATORS (STM32_FLASH_PREFETCH | STM32_FLASH_I_CACHE | STM32_FLASH_D_CACHE)
#define FLASH_ACR_RESETS (3u << 11)

static uint32_t acr(void)
{
    return mmio_read(BOARD_FLASH_BASE, FLASH_ACR);
}

static void set_acr(uint32_t value)
{
    mmio_write(BOARD_FLASH_BASE, FLASH_ACR, value);
}

void stm32_flash_set_latency(uint32_t wait_states)
{
    set_acr((acr() & ~FLASH_ACR_LATENCY) | wait_states);
    while ((acr() & FLASH_ACR_LATENCY) != wait_states) {
    }
}

void stm32_flash_accelerate(uint32_t accelerators)
{
    uint32_t off = acr() & ~(FLASH_ACR_ACCELERATORS | FLASH_ACR_RESETS);

    /* The caches can be reset while they are off. */
    set_acr(off);
    set_acr(off | FLASH_ACR_RESETS);
    set_acr(off);
    set_acr(off | accelerators);
}
