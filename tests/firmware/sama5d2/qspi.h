/* Registers of the QSPI controller (SAMA5D2 Series data sheet, Quad Serial Peripheral Interface), as far as the
 * programs here use them. */
#ifndef QSPI_H
#define QSPI_H

#include "board.h"
#include "mmio.h"

#include <stdbool.h>

#define QSPI_CR 0x00u
#define QSPI_MR 0x04u
#define QSPI_RDR 0x08u
#define QSPI_TDR 0x0Cu
#define QSPI_SR 0x10u
#define QSPI_IER 0x14u
#define QSPI_IDR 0x18u
#define QSPI_SCR 0x20u
#define QSPI_IAR 0x30u
#define QSPI_ICR 0x34u
#define QSPI_IFR 0x38u
#define QSPI_SMR 0x40u
#define QSPI_SKR 0x44u
#define QSPI_WPMR 0xE4u
#define QSPI_WPSR 0xE8u

#define CR_QSPIEN (1u << 0)
#define CR_SWRST (1u << 7)
#define CR_LASTXFER (1u << 24)

#define MR_SMM (1u << 0)
#define MR_SMRM (1u << 3)
#define MR_CSMODE_LASTXFER (1u << 4)
#define MR_NBBITS(bits) (((bits)-8u) << 8)

#define SR_RDRF (1u << 0)
#define SR_TDRE (1u << 1)
#define SR_INSTRE (1u << 10)

#define SCR_MODE_0 0u
#define SCR_MODE_3 3u
#define SCR_SCBR(divider) (((divider)-1u) << 8)

static inline uint32_t qspi_read(uint32_t offset)
{
    return mmio_read(BOARD_QSPI_BASE, offset);
}

static inline void qspi_write(uint32_t offset, uint32_t value)
{
    mmio_write(BOARD_QSPI_BASE, offset, value);
}

static inline void qspi_wait_for(uint32_t status)
{
    while (!(qspi_read(QSPI_SR) & status)) {
    }
}

static inline void qspi_restart(uint32_t mode, uint32_t clock)
{
    qspi_write(QSPI_CR, CR_SWRST);
    qspi_write(QSPI_MR, mode);
    qspi_write(QSPI_SCR, clock | SCR_SCBR(4u));
    qspi_write(QSPI_CR, CR_QSPIEN);
}

#endif
