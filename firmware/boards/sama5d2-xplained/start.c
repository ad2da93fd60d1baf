/* The set-up of the program proper before main: console, interrupt controller, caches. */
#include "atmel_aic.h"
#include "atmel_uart.h"
#include "board.h"
#include "l2x0.h"
#include "mmu.h"

void board_start(void);

#if APP_CACHE_ON
#define MEGABYTE 0x00100000u

static void start_caches(void)
{
    mmu_clear();
    mmu_map(BOARD_SRAM_BASE, MEGABYTE, MMU_CACHED);
    mmu_map(BOARD_DDR_BASE, 256 * MEGABYTE, MMU_CACHED);
    mmu_map(BOARD_QSPI_MEMORY_BASE, 128 * MEGABYTE, MMU_CACHED_READ_ONLY);
    mmu_map(BOARD_L2CC_BASE, MEGABYTE, MMU_DEVICE);
    /* The three megabytes with peripherals. */
    mmu_map(0xF0000000u, MEGABYTE, MMU_DEVICE);
    mmu_map(0xF8000000u, MEGABYTE, MMU_DEVICE);
    mmu_map(0xFC000000u, MEGABYTE, MMU_DEVICE);
    l2x0_enable();
    mmu_enable_with_caches();
}
#endif

void board_start(void)
{
    uart_start();
    aic_start();
#if APP_CACHE_ON
    start_caches();
#endif
}
