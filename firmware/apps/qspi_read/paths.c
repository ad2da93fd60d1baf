#include "paths.h"

#include "access.h"
#include "arm.h"
#include "atmel_xdmac.h"
#include "board.h"
#include "section.h"

#define READ 0x03u

/* Data sheet, DMA Controller, peripheral connections. */
#define TX_LINE 4u
#define RX_LINE 5u
#define RECEIVER 0u
#define SENDER 1u

/* Without a count of its reads, which would be a tenth of what is timed: a status that does not come ends by the run's
 * limit. */
static void poll(uint32_t status)
{
    while (!(read_register(QSPI_SR) & status)) {
    }
}

static uint8_t exchange(uint32_t byte)
{
    write_register(QSPI_TDR, byte);
    poll(SR_RDRF);
    return (uint8_t)read_register(QSPI_RDR);
}

static void begin_spi(uint32_t address)
{
    write_register(QSPI_MR, MR_CSMODE_LASTXFER);
    exchange(READ);
    exchange(address >> 16 & 0xFFu);
    exchange(address >> 8 & 0xFFu);
    exchange(address & 0xFFu);
}

static void end_spi(void)
{
    write_register(QSPI_CR, CR_LASTXFER);
    write_register(QSPI_MR, MR_SMM);
}

SECTION bool path_spi(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes)
{
    uint8_t *into = (uint8_t *)to;

    (void)width;
    begin_spi(address);
    for (uint32_t i = 0; i < bytes; i++) {
        into[i] = exchange(0);
    }
    end_spi();
    return true;
}

SECTION bool path_spi_dma(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes)
{
    static const uint8_t sent = 0;

    (void)width;
    begin_spi(address);
    xdmac_set_channel(RECEIVER, XDMAC_FROM_PERIPHERAL, RX_LINE, BOARD_QSPI_BASE + QSPI_RDR, (uintptr_t)to, bytes);
    xdmac_set_channel(SENDER, XDMAC_TO_PERIPHERAL, TX_LINE, (uintptr_t)&sent, BOARD_QSPI_BASE + QSPI_TDR, bytes);
    xdmac_enable(1u << RECEIVER | 1u << SENDER);
    bool done = xdmac_wait(RECEIVER);
    end_spi();
    return done;
}

/* The write of QSPI_IFR fetches the first byte, each read of QSPI_RDR the next one. */
static void begin_registers(enum qspi_width width, uint32_t address)
{
    write_register(QSPI_MR, MR_SMM | MR_SMRM);
    write_register(QSPI_IAR, address);
    write_register(QSPI_ICR, qspi_read_instruction(width));
    write_register(QSPI_IFR, qspi_read_frame(width));
}

SECTION bool path_registers(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes)
{
    uint8_t *into = (uint8_t *)to;

    begin_registers(width, address);
    for (uint32_t i = 0; i < bytes; i++) {
        if (i == bytes - 1) {
            write_register(QSPI_CR, CR_LASTXFER);
        }
        poll(SR_RDRF);
        into[i] = (uint8_t)read_register(QSPI_RDR);
    }
    write_register(QSPI_MR, MR_SMM);
    return true;
}

SECTION bool path_registers_dma(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes)
{
    xdmac_set_channel(RECEIVER, XDMAC_FROM_PERIPHERAL, RX_LINE, BOARD_QSPI_BASE + QSPI_RDR, (uintptr_t)to, bytes);
    xdmac_enable(1u << RECEIVER);
    begin_registers(width, address);
    bool done = xdmac_wait(RECEIVER);
    /* The last read has begun another byte, which is not needed. */
    write_register(QSPI_CR, CR_LASTXFER);
    poll(SR_RDRF);
    (void)read_register(QSPI_RDR);
    write_register(QSPI_MR, MR_SMM);
    return done;
}

SECTION bool path_window(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes)
{
    const volatile uint32_t *from = (const volatile uint32_t *)(BOARD_QSPI_MEMORY_BASE + address);

    (void)width;
    for (uint32_t i = 0; i < bytes / sizeof *from; i++) {
        to[i] = from[i];
    }
    arm_dsb();
    write_register(QSPI_CR, CR_LASTXFER);
    return true;
}

SECTION bool path_window_dma(enum qspi_width width, uint32_t address, uint32_t *to, uint32_t bytes)
{
    (void)width;
    xdmac_set_channel(RECEIVER, XDMAC_BETWEEN_MEMORIES, 0, BOARD_QSPI_MEMORY_BASE + address, (uintptr_t)to, bytes);
    xdmac_enable(1u << RECEIVER);
    bool done = xdmac_wait(RECEIVER);
    write_register(QSPI_CR, CR_LASTXFER);
    return done;
}
