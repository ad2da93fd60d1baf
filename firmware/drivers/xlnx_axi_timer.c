#include "xlnx_axi_timer.h"

#include "mmio.h"

#define AXI_TIMER_TCSR0 0x00u
#define AXI_TIMER_TLR0 0x04u
#define AXI_TIMER_TCR0 0x08u

#define AXI_TIMER_TCSR0_UDT0 (1u << 1)  /* down */
#define AXI_TIMER_TCSR0_ARHT0 (1u << 4) /* reload, don't hold */
#define AXI_TIMER_TCSR0_LOAD0 (1u << 5)
#define AXI_TIMER_TCSR0_ENIT0 (1u << 6)
#define AXI_TIMER_TCSR0_ENT0 (1u << 7)
#define AXI_TIMER_TCSR0_T0INT (1u << 8) /* write 1 to clear */

static void start(struct xlnx_axi_timer *timer, uintptr_t base, uint32_t load, uint32_t control)
{
    timer->base = base;
    mmio_write(base, AXI_TIMER_TCSR0, 0);
    mmio_write(base, AXI_TIMER_TLR0, load);
    mmio_write(base, AXI_TIMER_TCSR0, AXI_TIMER_TCSR0_LOAD0 | AXI_TIMER_TCSR0_T0INT);
    mmio_write(base, AXI_TIMER_TCSR0, control | AXI_TIMER_TCSR0_ENT0);
}

void xlnx_axi_timer_start_free_running(struct xlnx_axi_timer *timer, uintptr_t base)
{
    start(timer, base, 0, AXI_TIMER_TCSR0_ARHT0);
}

void xlnx_axi_timer_start_periodic(struct xlnx_axi_timer *timer, uintptr_t base, uint32_t clocks)
{
    start(timer, base, clocks, AXI_TIMER_TCSR0_UDT0 | AXI_TIMER_TCSR0_ARHT0 | AXI_TIMER_TCSR0_ENIT0);
}

uint32_t xlnx_axi_timer_now(const struct xlnx_axi_timer *timer)
{
    return mmio_read(timer->base, AXI_TIMER_TCR0);
}

void xlnx_axi_timer_acknowledge(const struct xlnx_axi_timer *timer)
{
    mmio_write(timer->base, AXI_TIMER_TCSR0, mmio_read(timer->base, AXI_TIMER_TCSR0) | AXI_TIMER_TCSR0_T0INT);
}

void xlnx_axi_timer_stop(const struct xlnx_axi_timer *timer)
{
    mmio_write(timer->base, AXI_TIMER_TCSR0, AXI_TIMER_TCSR0_T0INT);
}
