/* Reads the registers that the boot loader has set, as software does to identify the board. */
#include "board.h"
#include "console.h"
#include "jz4740_cgu.h"
#include "mmio.h"

#define EMC_BASE 0xB3010000u
#define EMC_DMCR 0x80u

int main(void)
{
    uint32_t dmcr = mmio_read(EMC_BASE, EMC_DMCR);
    uint32_t rows = 11 + (dmcr >> 20 & 3);
    uint32_t columns = 8 + (dmcr >> 26 & 7);
    uint32_t bytes = dmcr >> 31 ? 2 : 4;
    uint32_t banks = dmcr >> 19 & 1 ? 4 : 2;

    console_print("cclk %u hclk %u pclk %u\n", cgu_cclk_hz(), cgu_hclk_hz(), cgu_pclk_hz());
    console_print("sdram %u bytes\n", (bytes * banks) << (rows + columns));
    return 0;
}
