#include "atmel_pmc.h"

#include "board.h"
#include "mmio.h"

#define PMC_SCER 0x00u
#define CKGR_MOR 0x20u
#define CKGR_PLLAR 0x28u
#define PMC_MCKR 0x30u
#define PMC_SR 0x68u
#define PMC_PCR 0x10Cu

#define SCER_DDRCK (1u << 2)

#define MOR_MOSCXTEN (1u << 0)
#define MOR_MOSCRCEN (1u << 3)
/* 32 * 8 slow clocks: 7.8 ms for the crystal to start. */
#define MOR_MOSCXTST (32u << 8)
#define MOR_KEY (0x37u << 16)
#define MOR_MOSCSEL (1u << 24)

#define PLLAR_DIVA_1 1u
#define PLLAR_PLLACOUNT (0x3Fu << 8)
#define PLLAR_MULA(n) ((n) << 18)
#define PLLAR_ONE (1u << 29)
/* MCKR.PLLADIV2 halves the PLL's output to the core's clock: 12 MHz * 83 = 996 MHz for 498. */
#define PLLA_MULTIPLIER ((2u * BOARD_CORE_HZ + BOARD_MAIN_XTAL_HZ / 2u) / BOARD_MAIN_XTAL_HZ)

#define MCKR_CSS_MASK 3u
#define MCKR_CSS_MAIN 1u
#define MCKR_CSS_PLLA 2u
#define MCKR_PRES_MASK (7u << 4)
#define MCKR_MDIV_MASK (3u << 8)
/* Codes for the core's clock by 1, 2, 4 and 3. */
#define MCKR_MDIV(divider) (((divider) == 3u ? 3u : (divider) / 2u) << 8)
#define MCKR_PLLADIV2 (1u << 12)
#define MCKR_H32MXDIV2 (1u << 24)
#define MCKR_H32MX (BOARD_MCK_HZ / BOARD_PERIPHERAL_HZ == 2u ? MCKR_H32MXDIV2 : 0u)

#define SR_MOSCXTS (1u << 0)
#define SR_LOCKA (1u << 1)
#define SR_MCKRDY (1u << 3)
#define SR_MOSCSELS (1u << 16)

#define PCR_CMD_WRITE (1u << 12)
#define PCR_EN (1u << 28)

#define PMC_LIMIT_READS 1000000u

/* A clock that does not get ready shows in everything that follows; there is no console yet for a message. */
static BOARD_BOOT_CODE void wait_for(uint32_t mask)
{
    for (uint32_t reads = 0; reads < PMC_LIMIT_READS; reads++) {
        if (mmio_read(BOARD_PMC_BASE, PMC_SR) & mask) {
            return;
        }
    }
}

/* The fields change one after the other, and each waits (Programming Sequence). */
static BOARD_BOOT_CODE void set_mckr(uint32_t mask, uint32_t value)
{
    uint32_t mckr = mmio_read(BOARD_PMC_BASE, PMC_MCKR);

    mmio_write(BOARD_PMC_BASE, PMC_MCKR, (mckr & ~mask) | value);
    wait_for(SR_MCKRDY);
}

BOARD_BOOT_CODE void pmc_set_clocks(void)
{
    mmio_write(BOARD_PMC_BASE, CKGR_MOR, MOR_KEY | MOR_MOSCXTST | MOR_MOSCRCEN | MOR_MOSCXTEN);
    wait_for(SR_MOSCXTS);
    mmio_write(BOARD_PMC_BASE, CKGR_MOR, MOR_KEY | MOR_MOSCXTST | MOR_MOSCRCEN | MOR_MOSCXTEN | MOR_MOSCSEL);
    wait_for(SR_MOSCSELS);

    set_mckr(MCKR_CSS_MASK, MCKR_CSS_MAIN);
    mmio_write(
        BOARD_PMC_BASE, CKGR_PLLAR, PLLAR_ONE | PLLAR_MULA(PLLA_MULTIPLIER - 1u) | PLLAR_PLLACOUNT | PLLAR_DIVA_1);
    wait_for(SR_LOCKA);
    set_mckr(MCKR_H32MXDIV2 | MCKR_PLLADIV2, MCKR_H32MX | MCKR_PLLADIV2);
    set_mckr(MCKR_PRES_MASK, 0);
    set_mckr(MCKR_MDIV_MASK, MCKR_MDIV(BOARD_CORE_HZ / BOARD_MCK_HZ));
    set_mckr(MCKR_CSS_MASK, MCKR_CSS_PLLA);
}

BOARD_BOOT_CODE void pmc_enable_peripheral(uint32_t id)
{
    mmio_write(BOARD_PMC_BASE, PMC_PCR, PCR_EN | PCR_CMD_WRITE | id);
}

BOARD_BOOT_CODE void pmc_enable_ddr_clock(void)
{
    mmio_write(BOARD_PMC_BASE, PMC_SCER, SCER_DDRCK);
}
