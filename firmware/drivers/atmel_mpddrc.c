#include "atmel_mpddrc.h"

#include "arm.h"
#include "board.h"
#include "mmio.h"

#define MPDDRC_MR 0x00u
#define MPDDRC_RTR 0x04u
#define MPDDRC_CR 0x08u
#define MPDDRC_TPR0 0x0Cu
#define MPDDRC_TPR1 0x10u
#define MPDDRC_TPR2 0x14u
#define MPDDRC_MD 0x20u
#define MPDDRC_IO_CALIBR 0x34u
#define MPDDRC_RD_DATA_PATH 0x5Cu

#define MR_NORMAL 0u
#define MR_NOP 1u
#define MR_LMR 3u
#define MR_EXT_LMR 5u
#define MR_DEEP_CALIB 6u

#define MD_DDR3_32_BITS 4u

#define CR_COLUMNS_10 (1u << 0)
#define CR_ROWS_14 (3u << 2)
#define CR_CAS_5 (5u << 4)
#define CR_DRIVE_RZQ_7 (1u << 8)
/* The memory's own DLL has no lock below 300 MHz. */
#define CR_DISABLE_DLL (1u << 9)
#define CR_BANKS_8 (1u << 20)
#define CR_INTERLEAVED (1u << 22)
#define CR_UNALIGNED (1u << 23)

/* Times in cycles of 166 MHz (6.02 ns): MT41K128M16 data sheet, and the least that the controller allows. */
#define TPR0 \
    (6u << 0 /* TRAS */ | 3u << 4 /* TRCD */ | 4u << 8 /* TWR */ | 9u << 12 /* TRC */ | 3u << 16 /* TRP */ | \
        4u << 20 /* TRRD */ | 4u << 24 /* TWTR */ | 4u << 28 /* TMRD */)
#define TPR1 (27u << 0 /* TRFC */ | 29u << 8 /* TXSNR */ | 15u << 24 /* TXP */)
#define TPR2 (4u << 12 /* TRTP */ | 7u << 16 /* TFAW */)
/* 64 ms / 8192 rows. */
#define RTR_COUNT 1297u
#define RTR_COUNT_MASK 0xFFFu

#define IO_CALIBR_RDIV_RZQ_50 4u
#define IO_CALIBR_TZQIO(cycles) ((cycles) << 8)
#define RD_DATA_PATH_SHIFT_2 2u

/* Where accesses go that only give commands: the last megabyte, so that nothing that was loaded suffers. */
#define COMMAND_OFFSET 0x0FF00000u
/* Bank address bits in an access: above 10 column bits of 4 bytes. */
#define BANK(n) ((n) << 12)

static BOARD_BOOT_CODE void wait_us(uint32_t microseconds)
{
    /* A turn takes at least 4 cycles of the core, which has its caches off. */
    for (uint32_t turns = microseconds * (BOARD_CORE_HZ / 1000000u) / 4u; turns; turns--) {
        __asm__ volatile("");
    }
}

/* A mode takes effect with the next access; which bank it goes to selects the mode register. */
static BOARD_BOOT_CODE void command(uint32_t mode, uint32_t bank)
{
    mmio_write(BOARD_MPDDRC_BASE, MPDDRC_MR, mode);
    (void)mmio_read(BOARD_MPDDRC_BASE, MPDDRC_MR);
    arm_dsb();
    mmio_write(BOARD_DDR_BASE + COMMAND_OFFSET, BANK(bank), 0);
    arm_dsb();
}

static BOARD_BOOT_CODE void configure(void)
{
    mmio_write(BOARD_MPDDRC_BASE, MPDDRC_IO_CALIBR, IO_CALIBR_TZQIO(100u) | IO_CALIBR_RDIV_RZQ_50);
    mmio_write(BOARD_MPDDRC_BASE, MPDDRC_RD_DATA_PATH, RD_DATA_PATH_SHIFT_2);
    mmio_write(BOARD_MPDDRC_BASE, MPDDRC_MD, MD_DDR3_32_BITS);
    mmio_write(BOARD_MPDDRC_BASE, MPDDRC_CR,
        CR_COLUMNS_10 | CR_ROWS_14 | CR_CAS_5 | CR_DRIVE_RZQ_7 | CR_DISABLE_DLL | CR_BANKS_8 | CR_INTERLEAVED |
            CR_UNALIGNED);
    mmio_write(BOARD_MPDDRC_BASE, MPDDRC_TPR0, TPR0);
    mmio_write(BOARD_MPDDRC_BASE, MPDDRC_TPR1, TPR1);
    mmio_write(BOARD_MPDDRC_BASE, MPDDRC_TPR2, TPR2);
}

BOARD_BOOT_CODE void mpddrc_start(void)
{
    if (mmio_read(BOARD_MPDDRC_BASE, MPDDRC_RTR) & RTR_COUNT_MASK) {
        return;
    }
    configure();
    command(MR_NOP, 0);
    wait_us(500);
    command(MR_NOP, 0);
    command(MR_EXT_LMR, 2);
    command(MR_EXT_LMR, 3);
    command(MR_EXT_LMR, 1);
    command(MR_LMR, 0);
    wait_us(10);
    command(MR_DEEP_CALIB, 0);
    command(MR_NORMAL, 0);
    mmio_write(BOARD_MPDDRC_BASE, MPDDRC_RTR, RTR_COUNT);
}
