#include "contents.h"

#include "access.h"
#include "arm.h"
#include "board.h"

/* N25Q128A data sheet: Command Definitions, Status Register. */
#define WRITE_ENABLE 0x06u
#define READ_STATUS_REGISTER 0x05u
#define PAGE_PROGRAM 0x02u
#define STATUS_WIP (1u << 0)
#define PAGE_BYTES 256u

#define KEY 0x13579BDFu
#define LIMIT_READS 1000000u

static void wait_for(uint32_t status)
{
    for (uint32_t reads = 0; reads < LIMIT_READS && !(read_register(QSPI_SR) & status); reads++) {
    }
}

uint32_t contents_word(uint32_t address)
{
    uint32_t word = (address >> 2) * 0x9E3779B1u;

    return word ^ word >> 15;
}

bool contents_are_there(const uint32_t *words, uint32_t address, uint32_t bytes)
{
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < bytes / sizeof *words; i++) {
        wrong += words[i] != contents_word(address + i * sizeof *words);
    }
    return wrong == 0;
}

static void begin(uint32_t instruction, uint32_t frame)
{
    write_register(QSPI_ICR, ICR_INST(instruction));
    write_register(QSPI_IFR, IFR_WIDTH_SINGLE_BIT_SPI | IFR_INSTEN | frame);
}

static void end(void)
{
    write_register(QSPI_CR, CR_LASTXFER);
    wait_for(SR_INSTRE);
}

/* One byte through QSPI_RDR: LASTXFER before its read says that it is the last. */
static uint32_t status(void)
{
    begin(READ_STATUS_REGISTER, IFR_DATAEN);
    write_register(QSPI_CR, CR_LASTXFER);
    wait_for(SR_RDRF);
    return read_register(QSPI_RDR);
}

static bool becomes_ready(void)
{
    uint32_t reads = 0;

    write_register(QSPI_MR, MR_SMM | MR_SMRM);
    while (reads < LIMIT_READS && status() & STATUS_WIP) {
        reads++;
    }
    write_register(QSPI_MR, MR_SMM);
    return reads < LIMIT_READS;
}

static void enable_writes(void)
{
    begin(WRITE_ENABLE, 0);
    wait_for(SR_INSTRE);
}

static void send_page(uint32_t address)
{
    write_register(QSPI_MR, MR_SMM | MR_SMRM);
    write_register(QSPI_IAR, address);
    begin(PAGE_PROGRAM, IFR_ADDREN | IFR_DATAEN | IFR_TFRTYP_WRITE);
    for (uint32_t i = 0; i < PAGE_BYTES; i++) {
        wait_for(SR_TDRE);
        write_register(QSPI_TDR, contents_word(address + i) >> i % 4 * 8 & 0xFFu);
    }
    end();
    write_register(QSPI_MR, MR_SMM);
}

static void send_page_through_window(uint32_t address)
{
    volatile uint32_t *page = (volatile uint32_t *)(BOARD_QSPI_MEMORY_BASE + address);

    begin(PAGE_PROGRAM, IFR_ADDREN | IFR_DATAEN | IFR_TFRTYP_WRITE_MEMORY);
    /* Both buses must agree on what is written first: Instruction Frame Transmission. */
    (void)read_register(QSPI_IFR);
    arm_dsb();
    for (uint32_t i = 0; i < PAGE_BYTES / sizeof *page; i++) {
        page[i] = contents_word(address + i * sizeof *page);
    }
    arm_dsb();
    end();
}

static bool program(uint32_t address, uint32_t bytes, void (*send)(uint32_t address))
{
    for (uint32_t done = 0; done < bytes; done += PAGE_BYTES) {
        enable_writes();
        send(address + done);
        if (!becomes_ready()) {
            return false;
        }
    }
    return true;
}

bool contents_program(uint32_t address, uint32_t bytes)
{
    return program(address, bytes, send_page);
}

bool contents_program_scrambled(uint32_t address, uint32_t bytes)
{
    return program(address, bytes, send_page_through_window);
}

void contents_scramble(bool on)
{
    write_register(QSPI_SKR, KEY);
    write_register(QSPI_SMR, on ? SMR_SCREN : 0);
}
