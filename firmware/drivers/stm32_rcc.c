#include "stm32_rcc.h"

#include "board.h"
#include "mmio.h"

#define RCC_MP_GCR 0x10Cu
#define MP_GCR_BOOT_MCU (1u << 0)
#define RCC_MP_GRSTCSETR 0x404u
#define GRSTCSETR_MCURST (1u << 1)

#define CKSELR_SOURCE 7u

/* Each enable register of the A7s is followed by one of the M4. */
#if BOARD_CORE_CM4
#define ENABLE_OFFSET 0x80u
#else
#define ENABLE_OFFSET 0u
#endif

void rcc_enable(uint32_t clock)
{
    uint32_t enable = (clock >> 8) + ENABLE_OFFSET;

    mmio_write(BOARD_RCC_BASE, enable, 1u << (clock & 31));
    /* The read waits until the clock runs. */
    mmio_read(BOARD_RCC_BASE, enable);
}

void rcc_select(uint32_t selection_register, uint32_t choice)
{
    mmio_write(BOARD_RCC_BASE, selection_register, choice);
}

uint32_t rcc_selected(uint32_t selection_register)
{
    return mmio_read(BOARD_RCC_BASE, selection_register) & CKSELR_SOURCE;
}

void rcc_start_mcu(void)
{
    /* The bit has an effect while the M4 waits after a reset; cleared, it holds the next one (Linux,
     * stm32_rproc_start). */
    mmio_write(BOARD_RCC_BASE, RCC_MP_GCR, MP_GCR_BOOT_MCU);
    mmio_write(BOARD_RCC_BASE, RCC_MP_GCR, 0);
}

void rcc_reset_mcu(void)
{
    mmio_write(BOARD_RCC_BASE, RCC_MP_GCR, 0);
    mmio_write(BOARD_RCC_BASE, RCC_MP_GRSTCSETR, GRSTCSETR_MCURST);
}
