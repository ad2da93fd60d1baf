/* MMC/SD SPI interface of J-7SYSTEM Works (avalonif_mmc, VHDL of 2013): a byte is exchanged by writing it, then waiting
   for the flag. A write to the register while a byte is under way is ignored. */
#include "board.h"
#include "mmio.h"
#include "sd_port.h"

#define AVALONIF_CONTROL 0x0u
#define AVALONIF_CONTROL_NOT_PROTECTED (1u << 11)
#define AVALONIF_CONTROL_NO_CARD (1u << 10)
#define AVALONIF_CONTROL_IDLE (1u << 9) /* written as 0: sends the byte */
#define AVALONIF_CONTROL_NCS (1u << 8)

#define AVALONIF_DIVIDER 0x4u
#define AVALONIF_DIVIDER_MAX 0xFFu

/* The chip select is written with each byte. */
static uint32_t ncs = AVALONIF_CONTROL_NCS;

static uint8_t exchange(uint8_t byte)
{
    uint32_t control;

    mmio_write(BOARD_MMC_BASE, AVALONIF_CONTROL, ncs | byte);
    do {
        control = mmio_read(BOARD_MMC_BASE, AVALONIF_CONTROL);
    } while (!(control & AVALONIF_CONTROL_IDLE));
    return (uint8_t)control;
}

static void select(bool active)
{
    ncs = active ? 0 : AVALONIF_CONTROL_NCS;
    mmio_write(BOARD_MMC_BASE, AVALONIF_CONTROL, AVALONIF_CONTROL_IDLE | ncs);
}

/* A clock period is 2 * (divider + 1) system clocks. */
static void set_clock(uint32_t hz)
{
    uint32_t halves = (BOARD_CLOCK_HZ + 2 * hz - 1) / (2 * hz);
    uint32_t divider = halves ? halves - 1 : 0;

    mmio_write(BOARD_MMC_BASE, AVALONIF_DIVIDER, divider < AVALONIF_DIVIDER_MAX ? divider : AVALONIF_DIVIDER_MAX);
}

static bool has_card(void)
{
    return !(mmio_read(BOARD_MMC_BASE, AVALONIF_CONTROL) & AVALONIF_CONTROL_NO_CARD);
}

static bool is_protected(void)
{
    return !(mmio_read(BOARD_MMC_BASE, AVALONIF_CONTROL) & AVALONIF_CONTROL_NOT_PROTECTED);
}

const struct sd_port sd_port_avalonif = {exchange, select, set_clock, has_card, is_protected};
