/* Registers of the AT86RF231 (data sheet 8111, Register Reference), and the bytes that begin SPI accesses (SPI
   Protocol). The AT86RF230 (data sheet 5131) has fewer; the driver is built for one of them, APP_TRANSCEIVER_AT86RF230
   chooses the older. */
#ifndef AT86RF230_REGISTERS_H
#define AT86RF230_REGISTERS_H

/* First bytes. */
#define COMMAND_REGISTER 0x80
#define COMMAND_REGISTER_ADDRESS 0x3F
#define COMMAND_FRAME_BUFFER 0x20
#define COMMAND_WRITE 0x40

/* Registers. */
#define TRX_STATUS 0x01
#define TRX_STATE 0x02
#define TRX_CTRL_0 0x03
#define TRX_CTRL_1 0x04
#define PHY_TX_PWR 0x05
#define PHY_CC_CCA 0x08
#define TRX_CTRL_2 0x0C
#define IRQ_MASK 0x0E
#define IRQ_STATUS 0x0F
#define VREG_CTRL 0x10
#define PART_NUM 0x1C
#define VERSION_NUM 0x1D
#define MAN_ID_0 0x1E
#define MAN_ID_1 0x1F
#define SHORT_ADDR_0 0x20
#define SHORT_ADDR_1 0x21
#define PAN_ID_0 0x22
#define PAN_ID_1 0x23

/* Fields: register, mask, place of the lowest bit. */
#define TRX_STATUS_TRX_STATUS TRX_STATUS, 0x1F, 0
#define TRX_STATE_TRX_CMD TRX_STATE, 0x1F, 0
#define TRX_STATE_TRAC_STATUS TRX_STATE, 0xE0, 5
#define TRX_CTRL_0_CLKM_CTRL TRX_CTRL_0, 0x07, 0
#define TRX_CTRL_0_CLKM_SHA_SEL TRX_CTRL_0, 0x08, 3
#define TRX_CTRL_1_IRQ_POLARITY TRX_CTRL_1, 0x01, 0
#define PHY_TX_PWR_TX_AUTO_CRC_ON PHY_TX_PWR, 0x80, 7 /* of the AT86RF230 */
#define PHY_CC_CCA_CHANNEL PHY_CC_CCA, 0x1F, 0
#define TRX_CTRL_2_RX_SAFE_MODE TRX_CTRL_2, 0x80, 7
#define IRQ_MASK_ALL IRQ_MASK, 0xFF, 0
#define VREG_CTRL_DVDD_OK VREG_CTRL, 0x04, 2
#define VREG_CTRL_AVDD_OK VREG_CTRL, 0x40, 6

/* TRX_STATUS, and commands of TRX_CMD. */
#define STATE_P_ON 0x00
#define STATE_BUSY_RX 0x01
#define STATE_BUSY_TX 0x02 /* as a command: TX_START */
#define STATE_FORCE_TRX_OFF 0x03
#define STATE_FORCE_PLL_ON 0x04
#define STATE_RX_ON 0x06
#define STATE_TRX_OFF 0x08
#define STATE_PLL_ON 0x09
#define STATE_BUSY_RX_AACK 0x11
#define STATE_RX_AACK_ON 0x16
#define STATE_TX_ARET_ON 0x19
#define STATE_TRANSITION_IN_PROGRESS 0x1F

/* Where the driver receives: by itself, or with the chip's filter and acknowledgements. */
#if APP_MODE_EXTENDED
#define STATE_LISTENS STATE_RX_AACK_ON
#define STATE_BUSY_LISTENS STATE_BUSY_RX_AACK
#else
#define STATE_LISTENS STATE_RX_ON
#define STATE_BUSY_LISTENS STATE_BUSY_RX
#endif

/* The command that ends reception before a frame is sent: the AT86RF230 has no FORCE_PLL_ON. */
#if APP_TRANSCEIVER_AT86RF230
#define STATE_BEFORE_TX STATE_PLL_ON
#else
#define STATE_BEFORE_TX STATE_FORCE_PLL_ON
#endif

/* IRQ_STATUS */
#define IRQ_TRX_END 0x08

/* Their identification. */
#define PART_NUM_AT86RF230 0x02
#define PART_NUM_AT86RF231 0x03
#if APP_TRANSCEIVER_AT86RF230
#define PART_NUM_WANTED PART_NUM_AT86RF230
#else
#define PART_NUM_WANTED PART_NUM_AT86RF231
#endif
#define MAN_ID_0_ATMEL 0x1F
#define MAN_ID_1_ATMEL 0x00

#endif
