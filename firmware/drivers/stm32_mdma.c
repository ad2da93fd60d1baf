#include "stm32_mdma.h"

#include "board.h"
#include "error.h"
#include "mmio.h"
#include "stm32_rcc.h"

/* Registers of a channel. */
#define MDMA_CHANNEL(channel) (BOARD_MDMA_BASE + 0x40u * ((channel) + 1))
#define MDMA_CISR 0x00u
#define MDMA_CIFCR 0x04u
#define MDMA_CCR 0x0Cu
#define MDMA_CTCR 0x10u
#define MDMA_CBNDTR 0x14u
#define MDMA_CSAR 0x18u
#define MDMA_CDAR 0x1Cu
#define MDMA_CBRUR 0x20u
#define MDMA_CLAR 0x24u
#define MDMA_CTBR 0x28u
#define MDMA_CMAR 0x30u

#define CISR_TEIF (1u << 0)
#define CISR_CTCIF (1u << 1)
#define CIFCR_ALL 0x1Fu

#define CCR_EN (1u << 0)
#define CCR_SWRQ (1u << 16)

/* Addresses count up by units of 1 << size bytes; a request, which software makes, is for the whole block. */
#define CTCR_SINC_UP (2u << 0)
#define CTCR_DINC_UP (2u << 2)
#define CTCR_SIZES(size) ((size) << 4 | (size) << 6 | (size) << 8 | (size) << 10)
#define CTCR_BURSTS(beats) ((beats) << 12 | (beats) << 15)
#define CTCR_TLEN(bytes) (((bytes)-1) << 18)
#define CTCR_TRGM_BLOCK (1u << 28)
#define CTCR_SWRM (1u << 30)

/* The channel's FIFO: what it reads before it writes. */
#define BUFFER_BYTES 128u
#define BUFFER_BYTES_LOG2 7u
#define BURST_LOG2_LONGEST 4u

void mdma_start(void)
{
    rcc_enable(RCC_CLOCK_MDMA);
}

/* The largest unit, as a power of two, that divides addresses and length. */
static uint32_t unit_log2(uint32_t to, uint32_t from, uint32_t bytes)
{
    uint32_t together = to | from | bytes;
    uint32_t size = 0;

    while (size < 3 && !(together >> size & 1)) {
        size++;
    }
    return size;
}

void mdma_begin(uint32_t channel, void *to, const void *from, uint32_t bytes)
{
    uintptr_t base = MDMA_CHANNEL(channel);
    uint32_t size = unit_log2((uint32_t)to, (uint32_t)from, bytes);
    uint32_t burst = BUFFER_BYTES_LOG2 - size < BURST_LOG2_LONGEST ? BUFFER_BYTES_LOG2 - size : BURST_LOG2_LONGEST;

    mmio_write(base, MDMA_CCR, 0);
    mmio_write(base, MDMA_CIFCR, CIFCR_ALL);
    mmio_write(base, MDMA_CTCR,
               CTCR_SINC_UP | CTCR_DINC_UP | CTCR_SIZES(size) | CTCR_BURSTS(burst) | CTCR_TLEN(BUFFER_BYTES) | CTCR_TRGM_BLOCK | CTCR_SWRM);
    mmio_write(base, MDMA_CBNDTR, bytes);
    mmio_write(base, MDMA_CSAR, (uint32_t)from);
    mmio_write(base, MDMA_CDAR, (uint32_t)to);
    mmio_write(base, MDMA_CBRUR, 0);
    mmio_write(base, MDMA_CLAR, 0);
    mmio_write(base, MDMA_CTBR, 0);
    mmio_write(base, MDMA_CMAR, 0);
    /* The data that are to be moved are in memory. */
    __asm__ volatile("dsb" : : : "memory");
    mmio_write(base, MDMA_CCR, CCR_EN);
    mmio_write(base, MDMA_CCR, CCR_EN | CCR_SWRQ);
}

bool mdma_is_done(uint32_t channel)
{
    return mmio_read(MDMA_CHANNEL(channel), MDMA_CISR) & (CISR_TEIF | CISR_CTCIF);
}

int mdma_finish(uint32_t channel)
{
    uintptr_t base = MDMA_CHANNEL(channel);
    uint32_t status;

    do {
        status = mmio_read(base, MDMA_CISR);
    } while (!(status & (CISR_TEIF | CISR_CTCIF)));
    mmio_write(base, MDMA_CIFCR, CIFCR_ALL);
    /* The moved data are read after the status. */
    __asm__ volatile("dmb" : : : "memory");
    return status & CISR_TEIF ? ERROR_DMA : 0;
}

int mdma_copy(uint32_t channel, void *to, const void *from, uint32_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    int error = 0;

    while (bytes && !error) {
        uint32_t now = bytes < MDMA_BLOCK_BYTES ? bytes : MDMA_BLOCK_BYTES;
        mdma_begin(channel, target, source, now);
        error = mdma_finish(channel);
        target += now;
        source += now;
        bytes -= now;
    }
    return error;
}
