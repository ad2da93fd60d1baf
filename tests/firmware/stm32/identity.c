/* The chip's identity: the debug unit's code, the flash's size, the unique number. Addresses are those of RM0090 and
 * RM0432, "Device electronic signature". */
#include "board.h"
#include "console.h"
#include "mmio.h"

#define DBGMCU_IDCODE 0xE0042000u

#if defined(BOARD_LPUART1_BASE)
#define UNIQUE_ID 0x1FFF7590u
#define FLASH_SIZE 0x1FFF75E0u
#else
#define UNIQUE_ID 0x1FFF7A10u
#define FLASH_SIZE 0x1FFF7A22u
#endif

int main(void)
{
    uint32_t code = mmio_read(DBGMCU_IDCODE, 0);
    uint32_t flash_kib = *(const volatile uint16_t *)FLASH_SIZE;

    mmio_write(DBGMCU_IDCODE, 0, 0);
    mmio_write(DBGMCU_IDCODE, 4, 7);
    console_print("%08x %u KiB\n", mmio_read(DBGMCU_IDCODE, 0), flash_kib);
    console_print("%08x %08x\n", mmio_read(UNIQUE_ID, 0), mmio_read(UNIQUE_ID, 8));
    return mmio_read(DBGMCU_IDCODE, 0) == code && mmio_read(DBGMCU_IDCODE, 4) == 7 ? 0 : 1;
}
