#include "atmel_qspi_widths.h"

#include "arm.h"
#include "atmel_qspi_registers.h"
#include "board.h"
#include "mmio.h"

/* N25Q128A data sheet: Command Definitions; Volatile and Enhanced Volatile Configuration Register; XIP Mode. */
#define FLASH_WRITE_ENABLE 0x06u
#define FLASH_WRITE_VOLATILE_CONFIGURATION 0x81u
#define FLASH_WRITE_ENHANCED_VOLATILE_CONFIGURATION 0x61u
/* Dummy clocks as the instruction has them by default, no wrapping; bit 3 is 0: XIP can be entered. */
#define FLASH_VCR_XIP 0xF3u
/* As delivered; bit 7 is 0 for the quad protocol, bit 6 for the dual one. */
#define FLASH_EVCR_EXTENDED 0xDFu
#define FLASH_EVCR_DUAL 0x9Fu
#define FLASH_EVCR_QUAD 0x5Fu

/* The XIP confirmation bit, on IO0 in the first dummy clock: 0 stays in XIP mode, 1 ends it. */
#define OPTION_STAYS 0x00u
#define OPTION_ENDS 0xFFu

#define QSPI_LIMIT_READS 100000u

/* The option takes the first of the dummy clocks, on all lines of the address: its length is 1, 2 or 4 bits. */
struct read_command {
    uint8_t instruction;
    uint8_t option_length;
    uint8_t dummies;
};

static const BOARD_BOOT_DATA struct read_command read_commands[QSPI_WIDTHS] = {
    [QSPI_SINGLE_BIT_SPI] = {0x0B, 0, 8}, /* FAST READ */
    [QSPI_DUAL_OUTPUT] = {0x3B, 0, 8},    /* DUAL OUTPUT FAST READ */
    [QSPI_QUAD_OUTPUT] = {0x6B, 0, 8},    /* QUAD OUTPUT FAST READ */
    [QSPI_DUAL_IO] = {0xBB, 1, 8},        /* DUAL INPUT/OUTPUT FAST READ */
    [QSPI_QUAD_IO] = {0xEB, 2, 10},       /* QUAD INPUT/OUTPUT FAST READ */
    [QSPI_DUAL_CMD] = {0xBB, 1, 8},
    [QSPI_QUAD_CMD] = {0xEB, 2, 10},
};

static BOARD_BOOT_CODE void wait_for(uint32_t status)
{
    for (uint32_t reads = 0; reads < QSPI_LIMIT_READS; reads++) {
        if (mmio_read(BOARD_QSPI_BASE, QSPI_SR) & status) {
            return;
        }
    }
}

/* Data pass through QSPI_TDR and QSPI_RDR: the window may be cached, or read only. */
static BOARD_BOOT_CODE void set_register_mode(bool on)
{
    mmio_write(BOARD_QSPI_BASE, QSPI_MR, on ? MR_SMM | MR_SMRM : MR_SMM);
}

static BOARD_BOOT_CODE void write_register(uint32_t width, uint32_t code, uint8_t value)
{
    mmio_write(BOARD_QSPI_BASE, QSPI_ICR, ICR_INST(FLASH_WRITE_ENABLE));
    mmio_write(BOARD_QSPI_BASE, QSPI_IFR, width | IFR_INSTEN);
    wait_for(SR_INSTRE);
    set_register_mode(true);
    mmio_write(BOARD_QSPI_BASE, QSPI_ICR, ICR_INST(code));
    mmio_write(BOARD_QSPI_BASE, QSPI_IFR, width | IFR_INSTEN | IFR_DATAEN | IFR_TFRTYP_WRITE);
    mmio_write(BOARD_QSPI_BASE, QSPI_TDR, value);
    mmio_write(BOARD_QSPI_BASE, QSPI_CR, CR_LASTXFER);
    wait_for(SR_INSTRE);
    set_register_mode(false);
}

/* In the flash's dual and quad protocol instructions are as wide as all else. */
static BOARD_BOOT_CODE uint32_t instruction_width(enum qspi_width width)
{
    return width == QSPI_DUAL_CMD || width == QSPI_QUAD_CMD ? (uint32_t)width : IFR_WIDTH_SINGLE_BIT_SPI;
}

BOARD_BOOT_CODE uint32_t qspi_read_instruction(enum qspi_width width)
{
    return ICR_INST((uint32_t)read_commands[width].instruction);
}

BOARD_BOOT_CODE uint32_t qspi_read_frame(enum qspi_width width)
{
    return (uint32_t)width | IFR_INSTEN | IFR_ADDREN | IFR_DATAEN | IFR_NBDUM((uint32_t)read_commands[width].dummies);
}

/* For reads that continue without an instruction. */
static BOARD_BOOT_CODE uint32_t continuous_frame(enum qspi_width width)
{
    const struct read_command *command = &read_commands[width];

    return (uint32_t)width | IFR_ADDREN | IFR_OPTEN | IFR_OPTL((uint32_t)command->option_length) | IFR_DATAEN |
           IFR_NBDUM((uint32_t)command->dummies - 1u);
}

static BOARD_BOOT_CODE void set_frame(uint32_t instruction, uint32_t frame)
{
    mmio_write(BOARD_QSPI_BASE, QSPI_ICR, instruction);
    mmio_write(BOARD_QSPI_BASE, QSPI_IFR, frame);
    (void)mmio_read(BOARD_QSPI_BASE, QSPI_IFR);
    arm_dsb();
}

BOARD_BOOT_CODE void qspi_map_width(enum qspi_width width, bool continuous)
{
    if (continuous) {
        write_register(IFR_WIDTH_SINGLE_BIT_SPI, FLASH_WRITE_VOLATILE_CONFIGURATION, FLASH_VCR_XIP);
    }
    if (instruction_width(width) != IFR_WIDTH_SINGLE_BIT_SPI) {
        write_register(IFR_WIDTH_SINGLE_BIT_SPI, FLASH_WRITE_ENHANCED_VOLATILE_CONFIGURATION,
                       width == QSPI_DUAL_CMD ? FLASH_EVCR_DUAL : FLASH_EVCR_QUAD);
    }
    if (continuous) {
        set_frame(ICR_OPT(OPTION_STAYS) | qspi_read_instruction(width),
            continuous_frame(width) | IFR_INSTEN | IFR_CRM | IFR_TFRTYP_READ_MEMORY);
    } else {
        set_frame(qspi_read_instruction(width), qspi_read_frame(width) | IFR_TFRTYP_READ_MEMORY);
    }
}

BOARD_BOOT_CODE void qspi_unmap_width(enum qspi_width width, bool continuous)
{
    mmio_write(BOARD_QSPI_BASE, QSPI_CR, CR_LASTXFER);
    if (continuous) {
        /* A frame without an instruction that says that it is the last such. */
        set_register_mode(true);
        mmio_write(BOARD_QSPI_BASE, QSPI_IAR, 0);
        mmio_write(BOARD_QSPI_BASE, QSPI_ICR, ICR_OPT(OPTION_ENDS));
        mmio_write(BOARD_QSPI_BASE, QSPI_IFR, continuous_frame(width));
        mmio_write(BOARD_QSPI_BASE, QSPI_CR, CR_LASTXFER);
        wait_for(SR_RDRF);
        (void)mmio_read(BOARD_QSPI_BASE, QSPI_RDR);
        set_register_mode(false);
    }
    if (instruction_width(width) != IFR_WIDTH_SINGLE_BIT_SPI) {
        write_register(instruction_width(width), FLASH_WRITE_ENHANCED_VOLATILE_CONFIGURATION, FLASH_EVCR_EXTENDED);
    }
}
