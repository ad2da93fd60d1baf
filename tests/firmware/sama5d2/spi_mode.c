/* The flash's identification (READ ID, 9Fh) in the controller's SPI mode: words moved by polling, by interrupts, by
 * DMA. */
#include "arm.h"
#include "atmel_aic.h"
#include "atmel_pmc.h"
#include "console.h"
#include "qspi.h"

#define READ_ID 0x9Fu
#define WORDS 4u

/* DMA controller 0, data sheet, DMA Controller: channels of 64 bytes from 0x50 on. */
#define XDMAC_BASE 0xF0010000u
#define XDMAC_GIE 0x0Cu
#define XDMAC_GE 0x1Cu
#define XDMAC_CHANNEL(index) (XDMAC_BASE + 0x50u + 0x40u * (index))
#define XDMAC_CIE 0x00u
#define XDMAC_CIS 0x0Cu
#define XDMAC_CSA 0x10u
#define XDMAC_CDA 0x14u
#define XDMAC_CNDC 0x1Cu
#define XDMAC_CUBC 0x20u
#define XDMAC_CBC 0x24u
#define XDMAC_CC 0x28u
#define CIS_BIS (1u << 0)
#define CC_TYPE_PER_TRAN (1u << 0)
#define CC_DSYNC_MEM2PER (1u << 4)
#define CC_SAM_INCREMENTED (1u << 16)
#define CC_DAM_INCREMENTED (1u << 18)
#define CC_PERID(line) ((uint32_t)(line) << 24)
/* Data sheet, DMA Controller, peripheral connections. */
#define QSPI0_TX_LINE 4u
#define QSPI0_RX_LINE 5u

#define ID_XDMAC0 6u
#define RECEIVER 0u
#define SENDER 1u

static uint8_t received[WORDS];
static volatile uint32_t count;
static volatile bool done;

/* The vector of the AIC is the handler's address. */
__attribute__((interrupt("IRQ"))) void arm_irq_entry(void);
__attribute__((interrupt("IRQ"))) void arm_irq_entry(void)
{
    ((aic_handler *)mmio_read(BOARD_AIC_BASE, AIC_IVR))();
    mmio_write(BOARD_AIC_BASE, AIC_EOICR, 0);
}

static void wait_until_done(void)
{
    while (!done) {
        /* Wakes for what is masked, too. */
        arm_wait_for_interrupt();
        arm_enable_interrupts();
        arm_disable_interrupts();
    }
}

static void print(const char *how)
{
    console_print("%s: %02x %02x %02x\n", how, received[1], received[2], received[3]);
    for (uint32_t i = 0; i < WORDS; i++) {
        received[i] = 0;
    }
}

/* Chip select goes inactive after the word that the transmit register has when LASTXFER is written. */
static uint32_t exchange(uint32_t word, bool last)
{
    qspi_wait_for(SR_TDRE);
    qspi_write(QSPI_TDR, word);
    if (last) {
        qspi_write(QSPI_CR, CR_LASTXFER);
    }
    qspi_wait_for(SR_RDRF);
    return qspi_read(QSPI_RDR);
}

static void by_polling(uint32_t clock)
{
    qspi_restart(MR_CSMODE_LASTXFER | MR_NBBITS(8u), clock);
    for (uint32_t i = 0; i < WORDS; i++) {
        received[i] = (uint8_t)exchange(i == 0 ? READ_ID : 0, i == WORDS - 1);
    }
}

static void by_polling_of_halfwords(void)
{
    qspi_restart(MR_CSMODE_LASTXFER | MR_NBBITS(16u), SCR_MODE_0);
    received[1] = (uint8_t)exchange(READ_ID << 8, false);
    uint32_t others = exchange(0, true);
    received[2] = (uint8_t)(others >> 8);
    received[3] = (uint8_t)others;
}

static void on_received(void)
{
    received[count++] = (uint8_t)qspi_read(QSPI_RDR);
    if (count == WORDS) {
        qspi_write(QSPI_IDR, SR_RDRF);
        qspi_write(QSPI_CR, CR_LASTXFER);
        done = true;
    } else {
        qspi_write(QSPI_TDR, 0);
    }
}

static void by_interrupts(void)
{
    done = false;
    qspi_restart(MR_CSMODE_LASTXFER | MR_NBBITS(8u), SCR_MODE_0);
    aic_enable(BOARD_ID_QSPI, 5, AIC_LEVEL, on_received);
    qspi_write(QSPI_IER, SR_RDRF);
    qspi_write(QSPI_TDR, READ_ID);
    wait_until_done();
}

static void on_block_end(void)
{
    done = mmio_read(XDMAC_CHANNEL(RECEIVER), XDMAC_CIS) & CIS_BIS;
}

static void start_channel(uint32_t index, uintptr_t from, uintptr_t to, uint32_t config)
{
    uintptr_t channel = XDMAC_CHANNEL(index);

    (void)mmio_read(channel, XDMAC_CIS);
    mmio_write(channel, XDMAC_CSA, from);
    mmio_write(channel, XDMAC_CDA, to);
    mmio_write(channel, XDMAC_CUBC, WORDS);
    mmio_write(channel, XDMAC_CBC, 0);
    mmio_write(channel, XDMAC_CNDC, 0);
    mmio_write(channel, XDMAC_CC, CC_TYPE_PER_TRAN | config);
}

static void by_dma(void)
{
    static const uint8_t sent[WORDS] = {READ_ID};

    done = false;
    pmc_enable_peripheral(ID_XDMAC0);
    qspi_restart(MR_CSMODE_LASTXFER | MR_NBBITS(8u), SCR_MODE_0);
    start_channel(
        RECEIVER, BOARD_QSPI_BASE + QSPI_RDR, (uintptr_t)received, CC_DAM_INCREMENTED | CC_PERID(QSPI0_RX_LINE));
    start_channel(SENDER, (uintptr_t)sent, BOARD_QSPI_BASE + QSPI_TDR,
                  CC_DSYNC_MEM2PER | CC_SAM_INCREMENTED | CC_PERID(QSPI0_TX_LINE));
    mmio_write(XDMAC_CHANNEL(RECEIVER), XDMAC_CIE, CIS_BIS);
    mmio_write(XDMAC_BASE, XDMAC_GIE, 1u << RECEIVER);
    aic_enable(ID_XDMAC0, 5, AIC_LEVEL, on_block_end);
    arm_dsb();
    mmio_write(XDMAC_BASE, XDMAC_GE, 1u << RECEIVER | 1u << SENDER);
    wait_until_done();
    qspi_write(QSPI_CR, CR_LASTXFER);
}

int main(void)
{
    by_polling(SCR_MODE_0);
    print("polling");
    by_polling(SCR_MODE_3);
    print("mode 3");
    by_polling_of_halfwords();
    print("halfwords");
    by_interrupts();
    print("interrupts");
    by_dma();
    print("DMA");
    return 0;
}
