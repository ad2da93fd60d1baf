#include "atmel_xdmac.h"

#include "arm.h"
#include "atmel_pmc.h"
#include "board.h"
#include "mmio.h"

#define XDMAC_BASE 0xF0010000u
#define XDMAC_ID 6u

#define XDMAC_GE 0x1Cu
#define XDMAC_CHANNELS 0x50u
#define XDMAC_CHANNEL_BYTES 0x40u
/* Of a channel. */
#define XDMAC_CIE 0x00u
#define XDMAC_CIS 0x0Cu
#define XDMAC_CSA 0x10u
#define XDMAC_CDA 0x14u
#define XDMAC_CNDC 0x1Cu
#define XDMAC_CUBC 0x20u
#define XDMAC_CBC 0x24u
#define XDMAC_CC 0x28u

#define CIS_BIS (1u << 0)
#define CIS_ERRORS (7u << 4)

#define CC_TYPE_PER_TRAN (1u << 0)
#define CC_MBSIZE_SIXTEEN (3u << 1)
#define CC_DSYNC_MEM2PER (1u << 4)
#define CC_DWIDTH_WORD (2u << 11)
#define CC_SAM_INCREMENTED (1u << 16)
#define CC_DAM_INCREMENTED (1u << 18)
#define CC_PERID(line) ((line) << 24)

#define WORD 4u
#define LIMIT_READS 10000000u

static uintptr_t base_of(uint32_t channel)
{
    return XDMAC_BASE + XDMAC_CHANNELS + channel * XDMAC_CHANNEL_BYTES;
}

void xdmac_start(void)
{
    pmc_enable_peripheral(XDMAC_ID);
}

static uint32_t config_of(enum xdmac_kind kind, uint32_t line)
{
    switch (kind) {
    case XDMAC_FROM_PERIPHERAL:
        return CC_TYPE_PER_TRAN | CC_DAM_INCREMENTED | CC_PERID(line);
    case XDMAC_TO_PERIPHERAL:
        return CC_TYPE_PER_TRAN | CC_DSYNC_MEM2PER | CC_PERID(line);
    default:
        return CC_MBSIZE_SIXTEEN | CC_DWIDTH_WORD | CC_SAM_INCREMENTED | CC_DAM_INCREMENTED;
    }
}

void xdmac_set_channel(
    uint32_t channel, enum xdmac_kind kind, uint32_t line, uintptr_t from, uintptr_t to, uint32_t bytes)
{
    uintptr_t base = base_of(channel);

    /* A read clears what was. */
    (void)mmio_read(base, XDMAC_CIS);
    mmio_write(base, XDMAC_CSA, from);
    mmio_write(base, XDMAC_CDA, to);
    mmio_write(base, XDMAC_CUBC, kind == XDMAC_BETWEEN_MEMORIES ? bytes / WORD : bytes);
    mmio_write(base, XDMAC_CBC, 0);
    mmio_write(base, XDMAC_CNDC, 0);
    mmio_write(base, XDMAC_CC, config_of(kind, line));
    mmio_write(base, XDMAC_CIE, CIS_BIS | CIS_ERRORS);
}

void xdmac_enable(uint32_t channels)
{
    arm_dsb();
    mmio_write(XDMAC_BASE, XDMAC_GE, channels);
}

bool xdmac_wait(uint32_t channel)
{
    for (uint32_t reads = 0; reads < LIMIT_READS; reads++) {
        uint32_t status = mmio_read(base_of(channel), XDMAC_CIS);
        if (status) {
            return status == CIS_BIS;
        }
    }
    return false;
}
