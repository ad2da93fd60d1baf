#include "atmel_pio4.h"

#include "board.h"
#include "mmio.h"

/* Of group A; each further group is 0x40 on. */
#define PIO_MSKR 0x00u
#define PIO_CFGR 0x04u
#define PIO_SODR 0x10u
#define PIO_CODR 0x14u
#define PIO_GROUP_BYTES 0x40u

#define PIO_CFGR_DIR (1u << 8)

BOARD_BOOT_CODE void pio_select(enum pio_group group, uint32_t pins, enum pio_function function)
{
    uintptr_t base = BOARD_PIO_BASE + (uint32_t)group * PIO_GROUP_BYTES;

    mmio_write(base, PIO_MSKR, pins);
    mmio_write(base, PIO_CFGR, (uint32_t)function);
}

void pio_make_outputs(enum pio_group group, uint32_t pins, bool high)
{
    uintptr_t base = BOARD_PIO_BASE + (uint32_t)group * PIO_GROUP_BYTES;

    pio_set(group, pins, high);
    mmio_write(base, PIO_MSKR, pins);
    mmio_write(base, PIO_CFGR, PIO_CFGR_DIR);
}

void pio_set(enum pio_group group, uint32_t pins, bool high)
{
    mmio_write(BOARD_PIO_BASE + (uint32_t)group * PIO_GROUP_BYTES, high ? PIO_SODR : PIO_CODR, pins);
}
