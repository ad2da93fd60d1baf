#include "atmel_qspi.h"

#include "arm.h"
#include "atmel_qspi_registers.h"
#include "board.h"
#include "mmio.h"

/* N25Q128A data sheet: Command Definitions; Volatile Configuration Register; XIP Mode. */
#define FLASH_WRITE_ENABLE 0x06u
#define FLASH_WRITE_VOLATILE_CONFIGURATION 0x81u
#define FLASH_QUAD_IO_FAST_READ 0xEBu
/* Dummy clocks as the instruction has them by default, no wrapping; bit 3 is 0: XIP can be entered. */
#define FLASH_VCR_XIP 0xF3u
#define FLASH_QUAD_IO_DUMMIES 10u
/* On the lines in the first dummy clock: the XIP confirmation bit is 0, the flash stays in XIP mode. */
#define FLASH_XIP_CONFIRMATION 0u

#define QSPI_LIMIT_READS 100000u
#define QSPI_MOST_DIVIDER 256u

static BOARD_BOOT_CODE void wait_for_instruction_end(void)
{
    for (uint32_t reads = 0; reads < QSPI_LIMIT_READS; reads++) {
        if (mmio_read(BOARD_QSPI_BASE, QSPI_SR) & SR_INSTRE) {
            return;
        }
    }
}

/* A frame of an instruction only starts with the write of QSPI_IFR. */
static BOARD_BOOT_CODE void instruction(uint32_t code)
{
    mmio_write(BOARD_QSPI_BASE, QSPI_ICR, ICR_INST(code));
    mmio_write(BOARD_QSPI_BASE, QSPI_IFR, IFR_WIDTH_SINGLE_BIT_SPI | IFR_INSTEN);
    wait_for_instruction_end();
}

/* One with data starts with the access to the window, and ends with LASTXFER. */
static BOARD_BOOT_CODE void instruction_with_byte(uint32_t code, uint8_t byte)
{
    mmio_write(BOARD_QSPI_BASE, QSPI_ICR, ICR_INST(code));
    mmio_write(BOARD_QSPI_BASE, QSPI_IFR, IFR_WIDTH_SINGLE_BIT_SPI | IFR_INSTEN | IFR_DATAEN | IFR_TFRTYP_WRITE);
    /* Both buses must agree on what is written first: Instruction Frame Transmission. */
    (void)mmio_read(BOARD_QSPI_BASE, QSPI_IFR);
    *(volatile uint8_t *)BOARD_QSPI_MEMORY_BASE = byte;
    arm_dsb();
    mmio_write(BOARD_QSPI_BASE, QSPI_CR, CR_LASTXFER);
    wait_for_instruction_end();
}

BOARD_BOOT_CODE void qspi_start(uint32_t divider)
{
    mmio_write(BOARD_QSPI_BASE, QSPI_CR, CR_SWRST);
    mmio_write(BOARD_QSPI_BASE, QSPI_MR, MR_SMM);
    mmio_write(BOARD_QSPI_BASE, QSPI_SCR, SCR_SCBR(divider));
    mmio_write(BOARD_QSPI_BASE, QSPI_CR, CR_QSPIEN);
}

void qspi_set_baudrate(uint32_t baud_hz)
{
    uint32_t divider = baud_hz ? (BOARD_MCK_HZ + baud_hz - 1u) / baud_hz : QSPI_MOST_DIVIDER;
    uint32_t clock = mmio_read(BOARD_QSPI_BASE, QSPI_SCR) & ~SCR_SCBR_MASK;

    mmio_write(BOARD_QSPI_BASE, QSPI_SCR, clock | SCR_SCBR(divider < QSPI_MOST_DIVIDER ? divider : QSPI_MOST_DIVIDER));
}

BOARD_BOOT_CODE void qspi_map(bool continuous)
{
    const uint32_t frame = IFR_WIDTH_QUAD_IO | IFR_INSTEN | IFR_ADDREN | IFR_DATAEN | IFR_TFRTYP_READ_MEMORY;

    if (continuous) {
        instruction(FLASH_WRITE_ENABLE);
        instruction_with_byte(FLASH_WRITE_VOLATILE_CONFIGURATION, FLASH_VCR_XIP);
        mmio_write(BOARD_QSPI_BASE, QSPI_ICR, ICR_OPT(FLASH_XIP_CONFIRMATION) | ICR_INST(FLASH_QUAD_IO_FAST_READ));
        /* The option takes one of the dummy clocks. */
        mmio_write(BOARD_QSPI_BASE, QSPI_IFR,
            frame | IFR_OPTEN | IFR_OPTL_4BIT | IFR_CRM | IFR_NBDUM(FLASH_QUAD_IO_DUMMIES - 1u));
    } else {
        mmio_write(BOARD_QSPI_BASE, QSPI_ICR, ICR_INST(FLASH_QUAD_IO_FAST_READ));
        mmio_write(BOARD_QSPI_BASE, QSPI_IFR, frame | IFR_NBDUM(FLASH_QUAD_IO_DUMMIES));
    }
    (void)mmio_read(BOARD_QSPI_BASE, QSPI_IFR);
    arm_dsb();
}
