/* Registers of the SAMA5D2's QSPI controller (data sheet, chapter Quad Serial Peripheral Interface), as far as its
 * drivers use them. */
#ifndef ATMEL_QSPI_REGISTERS_H
#define ATMEL_QSPI_REGISTERS_H

#define QSPI_CR 0x00u
#define QSPI_MR 0x04u
#define QSPI_RDR 0x08u
#define QSPI_TDR 0x0Cu
#define QSPI_SR 0x10u
#define QSPI_SCR 0x20u
#define QSPI_IAR 0x30u
#define QSPI_ICR 0x34u
#define QSPI_IFR 0x38u
#define QSPI_SMR 0x40u
#define QSPI_SKR 0x44u

#define CR_QSPIEN (1u << 0)
#define CR_SWRST (1u << 7)
#define CR_LASTXFER (1u << 24)

#define MR_SMM (1u << 0)
#define MR_SMRM (1u << 3)
#define MR_CSMODE_LASTXFER (1u << 4)

#define SR_RDRF (1u << 0)
#define SR_TDRE (1u << 1)
#define SR_TXEMPTY (1u << 2)
#define SR_INSTRE (1u << 10)

#define SCR_SCBR(divider) (((divider)-1u) << 8)
#define SCR_SCBR_MASK (0xFFu << 8)

#define ICR_INST(code) (code)
#define ICR_OPT(code) ((code) << 16)

#define IFR_WIDTH_SINGLE_BIT_SPI 0u
#define IFR_WIDTH_QUAD_IO 4u
#define IFR_INSTEN (1u << 4)
#define IFR_ADDREN (1u << 5)
#define IFR_OPTEN (1u << 6)
#define IFR_DATAEN (1u << 7)
#define IFR_OPTL(code) ((code) << 8)
#define IFR_OPTL_4BIT IFR_OPTL(2u)
#define IFR_TFRTYP_READ_MEMORY (1u << 12)
#define IFR_TFRTYP_WRITE (2u << 12)
#define IFR_TFRTYP_WRITE_MEMORY (3u << 12)
#define IFR_CRM (1u << 14)
#define IFR_NBDUM(cycles) ((cycles) << 16)

#define SMR_SCREN (1u << 0)

#endif
