#include "atmel_tc.h"

#include "atmel_pmc.h"
#include "mmio.h"
#include "unoptimised.h"

#define TC_CCR 0x00u
#define TC_CMR 0x04u
#define TC_CV 0x10u
#define TC_SR 0x20u
#define TC_CHANNEL_BYTES 0x40u

#define CCR_CLKEN (1u << 0)
#define CCR_SWTRG (1u << 2)

#define CMR_TIMER_CLOCK2 1u
/* Waveform mode: the counter goes up to its end and starts anew. */
#define CMR_WAVE (1u << 15)

#define SR_COVFS (1u << 0)

static uintptr_t base_of(uint32_t channel)
{
    return BOARD_TC_BASE + (channel < TC_CHANNELS ? channel : 0) * TC_CHANNEL_BYTES;
}

void tc_configure(uint32_t channel)
{
    pmc_enable_peripheral(BOARD_ID_TC);
    mmio_write(base_of(channel), TC_CMR, CMR_WAVE | CMR_TIMER_CLOCK2);
}

void tc_start(uint32_t channel)
{
    mmio_write(base_of(channel), TC_CCR, CCR_SWTRG | CCR_CLKEN);
    /* A read clears what it gives: an overflow before. */
    (void)mmio_read(base_of(channel), TC_SR);
}

uint32_t tc_ticks(uint32_t channel)
{
    return mmio_read(base_of(channel), TC_CV);
}

bool tc_overflowed(uint32_t channel)
{
    return mmio_read(base_of(channel), TC_SR) & SR_COVFS;
}
