/* The work of ROM code and first-stage loader before a program runs: clocks, DDR3L if the program is there, the flash
 * to be read in place. In SRAM: it uses nothing of the program proper. */
#include "atmel_mpddrc.h"
#include "atmel_pio4.h"
#include "atmel_pmc.h"
#include "atmel_qspi.h"
#include "atmel_qspi_widths.h"
#include "board.h"
#include "mmio.h"

#define WDT_MR 0x04u
#define WDT_MR_WDDIS (1u << 15)

#if APP_CONTINUOUS_READ_ON
#define CONTINUOUS_READ true
#else
#define CONTINUOUS_READ false
#endif

#if APP_WIDTH_SINGLE_BIT_SPI
#define WIDTH QSPI_SINGLE_BIT_SPI
#elif APP_WIDTH_DUAL_OUTPUT
#define WIDTH QSPI_DUAL_OUTPUT
#elif APP_WIDTH_QUAD_OUTPUT
#define WIDTH QSPI_QUAD_OUTPUT
#elif APP_WIDTH_DUAL_IO
#define WIDTH QSPI_DUAL_IO
#elif APP_WIDTH_DUAL_CMD
#define WIDTH QSPI_DUAL_CMD
#elif APP_WIDTH_QUAD_CMD
#define WIDTH QSPI_QUAD_CMD
#endif

void boot(void);

/* PA22 to PA27, function F: SCK, CS and IO0 to IO3 of QSPI0, I/O set 3, which the flash is wired to. */
static BOARD_BOOT_CODE void start_flash(void)
{
    pmc_enable_peripheral(BOARD_ID_PIO);
    pio_select(PIO_A, 0x3Fu << 22, PIO_FUNCTION_F);
    pmc_enable_peripheral(BOARD_ID_QSPI);
    qspi_start(APP_SPCK_DIVIDER);
#if APP_WIDTH_QUAD_IO
    qspi_map(CONTINUOUS_READ);
#else
    qspi_map_width(WIDTH, CONTINUOUS_READ);
#endif
}

BOARD_BOOT_CODE void boot(void)
{
    mmio_write(BOARD_WDT_BASE, WDT_MR, WDT_MR_WDDIS);
    pmc_set_clocks();
#if APP_MEMORY_DDR
    pmc_enable_peripheral(BOARD_ID_MPDDRC);
    pmc_enable_ddr_clock();
    mpddrc_start();
#endif
    start_flash();
}
