/* SPI core with Avalon interface (Embedded Peripherals IP User Guide, SPI Core), host with 8 data bits. Its clock is
   set when the system is generated, so a card is powered up at full speed too, and the slot has no switches. */
#include "board.h"
#include "mmio.h"
#include "sd_port.h"

#define ALTR_SPI_RXDATA 0x00u
#define ALTR_SPI_TXDATA 0x04u
#define ALTR_SPI_STATUS 0x08u
#define ALTR_SPI_STATUS_RRDY (1u << 7)
#define ALTR_SPI_CONTROL 0x0Cu
#define ALTR_SPI_CONTROL_SSO (1u << 10) /* selects whether or not a byte is under way */
#define ALTR_SPI_SLAVESELECT 0x14u

static uint8_t exchange(uint8_t byte)
{
    mmio_write(BOARD_SPI_BASE, ALTR_SPI_TXDATA, byte);
    while (!(mmio_read(BOARD_SPI_BASE, ALTR_SPI_STATUS) & ALTR_SPI_STATUS_RRDY)) {
    }
    return (uint8_t)mmio_read(BOARD_SPI_BASE, ALTR_SPI_RXDATA);
}

/* Without SSO, a byte is sent with the line of `slaveselect` active: an empty mask keeps all inactive. */
static void select(bool active)
{
    mmio_write(BOARD_SPI_BASE, ALTR_SPI_SLAVESELECT, active ? 1 : 0);
    mmio_write(BOARD_SPI_BASE, ALTR_SPI_CONTROL, active ? ALTR_SPI_CONTROL_SSO : 0);
}

static void set_clock(uint32_t hz)
{
    (void)hz;
}

static bool has_card(void)
{
    return true;
}

static bool is_protected(void)
{
    return false;
}

const struct sd_port sd_port_altr_spi = {exchange, select, set_clock, has_card, is_protected};
