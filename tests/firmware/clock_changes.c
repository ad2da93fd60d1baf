/* A loop and a line of text, by the clocks that a board begins with and by those that the program sets then. */
#include "board.h"
#include "console.h"
#include "exit.h"
#include "mmio.h"
#include "section.h"

#include <stdint.h>

#define ROUNDS 20000u
/* Without caches an instruction's time depends on where it is. */
#define ALIGNED __attribute__((aligned(64)))

static void count(void)
{
    for (uint32_t left = ROUNDS; left != 0; left--) {
        __asm__ volatile("");
    }
}

static void say(void)
{
    console_print("0123456789abcdefghijklmnopqrstuvwxyz\n");
    console_flush();
}

ALIGNED SECTION void count_before(void)
{
    count();
}

SECTION void say_before(void)
{
    say();
}

ALIGNED SECTION void count_after(void)
{
    count();
}

SECTION void say_after(void)
{
    say();
}

#if defined(BOARD_CPM_BASE)

#define CPM_CPCCR 0x00u
#define CPM_CPPCR 0x10u
#define CPCCR_CE (1u << 22)
#define CPCCR_DIVIDERS 0xFFFFu
/* The core's clock is half of the PLL's, the others a quarter. */
#define CPCCR_HALVES 0x3331u
#define CPPCR_FACTORS 0xFFFF0000u
#define CPPCR_PLLS (1u << 10)
/* 12 MHz * 40 / 2. */
#define CPPCR_240_MHZ (38u << 23)

SECTION void change_clocks(void)
{
    uint32_t cpccr = mmio_read(BOARD_CPM_BASE, CPM_CPCCR);
    uint32_t cppcr = mmio_read(BOARD_CPM_BASE, CPM_CPPCR);

    mmio_write(BOARD_CPM_BASE, CPM_CPCCR, (cpccr & ~CPCCR_DIVIDERS) | CPCCR_CE | CPCCR_HALVES);
    mmio_write(BOARD_CPM_BASE, CPM_CPPCR, (cppcr & ~CPPCR_FACTORS) | CPPCR_240_MHZ);
    while (!(mmio_read(BOARD_CPM_BASE, CPM_CPPCR) & CPPCR_PLLS)) {
    }
}

#elif defined(BOARD_PMC_BASE)

#define PMC_MCKR 0x30u
#define PMC_SR 0x68u
#define MCKR_PRES_2 (1u << 4)
#define SR_MCKRDY (1u << 3)

SECTION void change_clocks(void)
{
    mmio_write(BOARD_PMC_BASE, PMC_MCKR, mmio_read(BOARD_PMC_BASE, PMC_MCKR) | MCKR_PRES_2);
    while (!(mmio_read(BOARD_PMC_BASE, PMC_SR) & SR_MCKRDY)) {
    }
}

#else

#define RCC_MPCKSELR 0x020u
#define RCC_UART24CKSELR 0x8E8u
#define MPUSRC_PLL1_DIVIDED 3u
#define SRCRDY (1u << 31)
#define UART24SRC_HSE 4u

SECTION void change_clocks(void)
{
    mmio_write(BOARD_RCC_BASE, RCC_UART24CKSELR, UART24SRC_HSE);
    /* RCC_MPCKDIVR divides by 2. */
    mmio_write(BOARD_RCC_BASE, RCC_MPCKSELR, MPUSRC_PLL1_DIVIDED);
    while (!(mmio_read(BOARD_RCC_BASE, RCC_MPCKSELR) & SRCRDY)) {
    }
}

#endif

int main(void)
{
    count_before();
    say_before();
    change_clocks();
    count_after();
    say_after();
    return EXIT_OK;
}
