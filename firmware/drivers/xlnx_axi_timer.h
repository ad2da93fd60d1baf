/* AXI Timer (PG079 v2.0, table 4 ff.): timer 0 as a free-running stopwatch, and as a periodic interrupt. */
#ifndef XLNX_AXI_TIMER_H
#define XLNX_AXI_TIMER_H

#include <stdint.h>

struct xlnx_axi_timer {
    uintptr_t base;
};

/* Counts AXI clocks up from 0, around after 2^32: differences of readings below 42.9 s (100 MHz) hold. */
void xlnx_axi_timer_start_free_running(struct xlnx_axi_timer *timer, uintptr_t base);

/* Interrupts every `clocks` + 2 AXI clocks (PG079: down counter with reload), until stopped. */
void xlnx_axi_timer_start_periodic(struct xlnx_axi_timer *timer, uintptr_t base, uint32_t clocks);

/* AXI clocks now. */
uint32_t xlnx_axi_timer_now(const struct xlnx_axi_timer *timer);

/* Takes the timer's interrupt back (T0INT). */
void xlnx_axi_timer_acknowledge(const struct xlnx_axi_timer *timer);

void xlnx_axi_timer_stop(const struct xlnx_axi_timer *timer);

#endif
