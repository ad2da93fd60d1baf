/* The set-up of the A7's program before main: caches, interrupt controller, console. */
#include "arm_generic_timer.h"
#include "board.h"
#include "gic.h"
#include "mmu.h"
#include "stm32_console.h"

void board_start(void);

#define MEGABYTE 0x00100000u

#if APP_SHARED_CACHE_ON
#define SHARED_MEMORY MMU_NORMAL_CACHED
#else
#define SHARED_MEMORY MMU_NORMAL_UNCACHED
#endif

/* As Linux maps them: the M4's memories and the rings uncached (ioremap_wc, dma_alloc_coherent), registers as
 * devices. */
static void start_caches(void)
{
    static const uint32_t devices[] = {
        BOARD_UART4_BASE, BOARD_HSEM_BASE, BOARD_RCC_BASE, BOARD_MDMA_BASE, BOARD_GICD_BASE,
    };

    mmu_clear();
    mmu_map_as(BOARD_DDR_BASE, BOARD_DDR_BYTES, MMU_NORMAL_CACHED);
    mmu_map_as(BOARD_IPC_SHARED_BASE, BOARD_IPC_SHARED_BYTES, SHARED_MEMORY);
    mmu_map_as(BOARD_MCU_SRAM_BASE, MEGABYTE, MMU_NORMAL_UNCACHED);
    mmu_map_as(BOARD_RETRAM_BASE, MEGABYTE, MMU_NORMAL_UNCACHED);
    for (unsigned i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        mmu_map_as(devices[i] & ~(MEGABYTE - 1), MEGABYTE, MMU_DEVICE_BUFFERED);
    }
    mmu_enable_with_caches();
}

void board_start(void)
{
    start_caches();
    stm32_console_start();
    gic_start();
    generic_timer_start();
}
