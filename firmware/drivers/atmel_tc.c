#include "atmel_tc.h"

#include "atmel_pmc.h"

#define TC_CCR 0x00u
#define TC_CMR 0x04u

#define CCR_CLKEN (1u << 0)
#define CCR_SWTRG (1u << 2)

#define CMR_TIMER_CLOCK2 1u
/* Waveform mode: the counter goes up to its end and starts anew. */
#define CMR_WAVE (1u << 15)

_Static_assert(BOARD_CORE_HZ % TC_HZ == 0, "a tick is a whole number of core cycles");

void tc_start(void)
{
    pmc_enable_peripheral(BOARD_ID_TC);
    mmio_write(BOARD_TC_BASE, TC_CMR, CMR_WAVE | CMR_TIMER_CLOCK2);
    mmio_write(BOARD_TC_BASE, TC_CCR, CCR_SWTRG | CCR_CLKEN);
}
