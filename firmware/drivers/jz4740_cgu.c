#include "jz4740_cgu.h"

#include "board.h"
#include "mmio.h"
#include "spinlock.h"

#define CPM_CPCCR 0x00u
#define CPM_CPPCR 0x10u
#define CPM_CLKGR 0x20u
#define CPM_SSICDR 0x74u

#define CPCCR_CDIV_SHIFT 0
#define CPCCR_HDIV_SHIFT 4
#define CPCCR_PDIV_SHIFT 8
#define CPCCR_DIV_MASK 0xFu

#define CPPCR_PLLM_SHIFT 23
#define CPPCR_PLLM_MASK 0x1FFu
#define CPPCR_PLLN_SHIFT 18
#define CPPCR_PLLN_MASK 0x1Fu
#define CPPCR_PLLOD_SHIFT 16
#define CPPCR_PLLOD_MASK 0x3u
#define CPPCR_PLLBP (1u << 9)
#define CPPCR_PLLEN (1u << 8)

#define SSICDR_SCS (1u << 31)
#define SSICDR_DIV_MAX 16u

void cgu_start_clock(enum cgu_gate gate)
{
    uint32_t before = irq_save();

    mmio_write(BOARD_CPM_BASE, CPM_CLKGR, mmio_read(BOARD_CPM_BASE, CPM_CLKGR) & ~(1u << gate));
    irq_restore(before);
}

static uint32_t pll_hz(void)
{
    static const uint8_t output_dividers[] = {1, 2, 2, 4};
    uint32_t cppcr = mmio_read(BOARD_CPM_BASE, CPM_CPPCR);

    if (!(cppcr & CPPCR_PLLEN) || (cppcr & CPPCR_PLLBP)) {
        return BOARD_EXTAL_HZ;
    }
    uint32_t m = (cppcr >> CPPCR_PLLM_SHIFT & CPPCR_PLLM_MASK) + 2;
    uint32_t n = (cppcr >> CPPCR_PLLN_SHIFT & CPPCR_PLLN_MASK) + 2;
    uint32_t od = output_dividers[cppcr >> CPPCR_PLLOD_SHIFT & CPPCR_PLLOD_MASK];
    return (uint32_t)((uint64_t)BOARD_EXTAL_HZ * m / (n * od));
}

/* One of the PLL's clocks; codes from 10 on are reserved. */
static uint32_t divided(uint32_t shift)
{
    static const uint8_t dividers[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    uint32_t code = mmio_read(BOARD_CPM_BASE, CPM_CPCCR) >> shift & CPCCR_DIV_MASK;

    return code < sizeof dividers ? pll_hz() / dividers[code] : 0;
}

uint32_t cgu_cclk_hz(void)
{
    return divided(CPCCR_CDIV_SHIFT);
}

uint32_t cgu_hclk_hz(void)
{
    return divided(CPCCR_HDIV_SHIFT);
}

uint32_t cgu_pclk_hz(void)
{
    return divided(CPCCR_PDIV_SHIFT);
}

uint32_t cgu_set_ssi_divider(uint32_t divider)
{
    if (divider == 0) {
        mmio_write(BOARD_CPM_BASE, CPM_SSICDR, 0);
        return BOARD_EXTAL_HZ;
    }
    uint32_t allowed = divider < SSICDR_DIV_MAX ? divider : SSICDR_DIV_MAX;
    mmio_write(BOARD_CPM_BASE, CPM_SSICDR, SSICDR_SCS | (allowed - 1));
    return pll_hz() / allowed;
}
