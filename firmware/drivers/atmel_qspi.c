#include "atmel_qspi.h"

#include "arm.h"
#include "board.h"
#include "mmio.h"

#define QSPI_CR 0x00u
#define QSPI_MR 0x04u
#define QSPI_SR 0x10u
#define QSPI_SCR 0x20u
#define QSPI_ICR 0x34u
#define QSPI_IFR 0x38u

#define CR_QSPIEN (1u << 0)
#define CR_SWRST (1u << 7)
#define CR_LASTXFER (1u << 24)

#define MR_SMM (1u << 0)

#define SR_INSTRE (1u << 10)

#define SCR_SCBR(divider) (((divider)-1u) << 8)

#define ICR_INST(code) (code)
#define ICR_OPT(code) ((code) << 16)

#define IFR_WIDTH_SINGLE_BIT_SPI 0u
#define IFR_WIDTH_QUAD_IO 4u
#define IFR_INSTEN (1u << 4)
#define IFR_ADDREN (1u << 5)
#define IFR_OPTEN (1u << 6)
#define IFR_DATAEN (1u << 7)
#define IFR_OPTL_4BIT (2u << 8)
#define IFR_TFRTYP_READ_MEMORY (1u << 12)
#define IFR_TFRTYP_WRITE (2u << 12)
#define IFR_CRM (1u << 14)
#define IFR_NBDUM(cycles) ((cycles) << 16)

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

/* One with data starts with the access to the window, and ends when it is told to. */
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

BOARD_BOOT_CODE void qspi_map(bool continuous)
{
    const uint32_t frame = IFR_WIDTH_QUAD_IO | IFR_INSTEN | IFR_ADDREN | IFR_DATAEN | IFR_TFRTYP_READ_MEMORY;

    if (continuous) {
        instruction(FLASH_WRITE_ENABLE);
        instruction_with_byte(FLASH_WRITE_VOLATILE_CONFIGURATION, FLASH_VCR_XIP);
        mmio_write(BOARD_QSPI_BASE, QSPI_ICR, ICR_OPT(FLASH_XIP_CONFIRMATION) | ICR_INST(FLASH_QUAD_IO_FAST_READ));
        /* The option takes one of the dummy clocks. */
        mmio_write(BOARD_QSPI_BASE, QSPI_IFR, frame | IFR_OPTEN | IFR_OPTL_4BIT | IFR_CRM | IFR_NBDUM(FLASH_QUAD_IO_DUMMIES - 1u));
    } else {
        mmio_write(BOARD_QSPI_BASE, QSPI_ICR, ICR_INST(FLASH_QUAD_IO_FAST_READ));
        mmio_write(BOARD_QSPI_BASE, QSPI_IFR, frame | IFR_NBDUM(FLASH_QUAD_IO_DUMMIES));
    }
    (void)mmio_read(BOARD_QSPI_BASE, QSPI_IFR);
    arm_dsb();
}
