/* Serial memory mode: a page written and read scrambled, status bytes through the data register, write protection. */
#include "arm.h"
#include "console.h"
#include "qspi.h"

#define WRITE_ENABLE 0x06u
#define READ_STATUS_REGISTER 0x05u
#define PAGE_PROGRAM 0x02u
#define READ 0x03u
#define STATUS_WIP (1u << 0)

#define IFR_INSTEN (1u << 4)
#define IFR_ADDREN (1u << 5)
#define IFR_DATAEN (1u << 7)
#define IFR_TFRTYP_READ_MEMORY (1u << 12)
#define IFR_TFRTYP_WRITE_MEMORY (3u << 12)

#define SMR_SCREN (1u << 0)
#define SMR_RVDIS (1u << 1)
#define KEY 0x13579BDFu

#define WPMR_WPKEY (0x515350u << 8)
#define WPMR_WPEN (1u << 0)

#define ADDRESS 0x00040000u
#define WINDOW ((volatile uint32_t *)(BOARD_QSPI_MEMORY_BASE + ADDRESS))
#define WORDS 4u

static const uint32_t text[WORDS] = {0x00000000, 0x00000000, 0xDEADBEEF, 0x12345678};

static void set_frame(uint32_t instruction, uint32_t frame)
{
    qspi_write(QSPI_ICR, instruction);
    qspi_write(QSPI_IFR, IFR_INSTEN | frame);
    (void)qspi_read(QSPI_IFR);
    arm_dsb();
}

static void end_frame(void)
{
    arm_dsb();
    qspi_write(QSPI_CR, CR_LASTXFER);
    qspi_wait_for(SR_INSTRE);
}

/* One byte through QSPI_RDR: the frame fetches it at once, and LASTXFER before its read says that it is the last. */
static uint32_t status(void)
{
    qspi_write(QSPI_MR, MR_SMM | MR_SMRM);
    set_frame(READ_STATUS_REGISTER, IFR_DATAEN);
    qspi_write(QSPI_CR, CR_LASTXFER);
    qspi_wait_for(SR_RDRF);
    uint32_t value = qspi_read(QSPI_RDR);
    qspi_write(QSPI_MR, MR_SMM);
    return value;
}

static void program(void)
{
    set_frame(WRITE_ENABLE, 0);
    qspi_wait_for(SR_INSTRE);
    set_frame(PAGE_PROGRAM, IFR_ADDREN | IFR_DATAEN | IFR_TFRTYP_WRITE_MEMORY);
    for (uint32_t i = 0; i < WORDS; i++) {
        WINDOW[i] = text[i];
    }
    end_frame();
    uint32_t reads = 1;
    while (status() & STATUS_WIP) {
        reads++;
    }
    console_print("busy: %s\n", reads > 1 ? "yes" : "no");
}

/* Words that read as they were written. */
static void compare(const char *how)
{
    uint32_t equal = 0;

    set_frame(READ, IFR_ADDREN | IFR_DATAEN | IFR_TFRTYP_READ_MEMORY);
    for (uint32_t i = 0; i < WORDS; i++) {
        equal += WINDOW[i] == text[i];
    }
    console_print("%s: %u equal, two %s\n", how, equal, WINDOW[0] == WINDOW[1] ? "the same" : "different");
    end_frame();
}

static void scramble(uint32_t mode, uint32_t key)
{
    qspi_write(QSPI_SKR, key);
    qspi_write(QSPI_SMR, mode);
}

static void protect(void)
{
    uint32_t before = qspi_read(QSPI_SCR);

    qspi_write(QSPI_WPMR, WPMR_WPKEY | WPMR_WPEN);
    qspi_write(QSPI_SCR, 0);
    uint32_t violation = qspi_read(QSPI_WPSR);
    console_print("violation %08x, then %08x, SCR %s\n", violation, qspi_read(QSPI_WPSR),
                  qspi_read(QSPI_SCR) == before ? "kept" : "written");
    qspi_write(QSPI_WPMR, WPMR_WPKEY);
    qspi_write(QSPI_SCR, before | SCR_MODE_3);
    console_print("violation %08x, SCR %s\n", qspi_read(QSPI_WPSR), qspi_read(QSPI_SCR) == before ? "kept" : "written");
}

int main(void)
{
    qspi_restart(MR_SMM, SCR_MODE_0);
    scramble(SMR_SCREN, KEY);
    program();
    compare("same key");
    scramble(SMR_SCREN, ~KEY);
    compare("other key");
    scramble(SMR_SCREN | SMR_RVDIS, KEY);
    compare("without the device's value");
    scramble(0, 0);
    compare("unscrambled");
    protect();
    return 0;
}
