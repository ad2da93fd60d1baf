#include "l2x0.h"

#include "arm.h"
#include "board.h"
#include "mmio.h"

#define L2_CONTROL 0x100u
#define L2_INTERRUPT_MASK 0x214u
#define L2_INTERRUPT_CLEAR 0x220u
#define L2_CACHE_SYNC 0x730u
#define L2_INVALIDATE_BY_WAY 0x77Cu
#define L2_PREFETCH_CONTROL 0xF60u

#define CONTROL_ENABLE (1u << 0)
#define WAYS 0xFFu

/* The set-up of Atmel's own software package: both prefetches, double line fills on both kinds of bursts, drops,
 * offset 31. */
#define PREFETCH_OFFSET_31 31u
#define PREFETCH_INCR_DOUBLE_LINEFILL (1u << 23)
#define PREFETCH_DROP (1u << 24)
#define PREFETCH_DATA (1u << 28)
#define PREFETCH_INSTRUCTION (1u << 29)
#define PREFETCH_DOUBLE_LINEFILL (1u << 30)

#define SFR_L2CC_HRAMC 0x58u
#define L2CC_HRAMC_SRAM_SEL (1u << 0)

#define L2_LIMIT_READS 1000000u

static void invalidate(void)
{
    mmio_write(BOARD_L2CC_BASE, L2_INVALIDATE_BY_WAY, WAYS);
    for (uint32_t reads = 0; reads < L2_LIMIT_READS; reads++) {
        if (!(mmio_read(BOARD_L2CC_BASE, L2_INVALIDATE_BY_WAY) & WAYS)) {
            break;
        }
    }
    mmio_write(BOARD_L2CC_BASE, L2_CACHE_SYNC, 0);
}

void l2x0_enable(void)
{
    mmio_write(BOARD_SFR_BASE, SFR_L2CC_HRAMC, L2CC_HRAMC_SRAM_SEL);
    mmio_write(BOARD_L2CC_BASE, L2_CONTROL, 0);
#if APP_L2_PREFETCH_ON
    mmio_write(BOARD_L2CC_BASE, L2_PREFETCH_CONTROL,
        PREFETCH_DOUBLE_LINEFILL | PREFETCH_INSTRUCTION | PREFETCH_DATA | PREFETCH_DROP |
            PREFETCH_INCR_DOUBLE_LINEFILL | PREFETCH_OFFSET_31);
#else
    mmio_write(BOARD_L2CC_BASE, L2_PREFETCH_CONTROL, 0);
#endif
    mmio_write(BOARD_L2CC_BASE, L2_INTERRUPT_MASK, 0);
    mmio_write(BOARD_L2CC_BASE, L2_INTERRUPT_CLEAR, 0x1FFu);
    invalidate();
    arm_dsb();
    mmio_write(BOARD_L2CC_BASE, L2_CONTROL, CONTROL_ENABLE);
    arm_dsb();
}
