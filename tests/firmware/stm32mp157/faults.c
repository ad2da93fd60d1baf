/* Ends by an unexpected exception. */
#include "board.h"
#include "console.h"
#include "gic.h"
#include "mmio.h"

int main(void)
{
#if APP_KIND == 0
    *(volatile uint32_t *)0x20000000u = 1;
#elif APP_KIND == 1
    __asm__ volatile("udf #0");
#else
    mmio_write(BOARD_GICD_BASE, 0x104u, 1u << 9);
    mmio_write(BOARD_GICD_BASE, 0x204u, 1u << 9);
    __asm__ volatile("dsb\n\tisb");
#endif
    console_print("went on\n");
    return 0;
}
