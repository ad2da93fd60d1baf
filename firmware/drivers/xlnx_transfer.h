/* How the drivers of the SPI core and its DMA engines wait for the end of a transfer: they poll; or, in a program with
 * the setting completion=interrupts, they wait until a device has interrupted through the AXI interrupt controller.
 *
 * A loop that waits calls transfer_look() before it looks at the devices' registers and, where it finds nothing to do
 * yet, transfer_wait(): what happens in between is not missed. */
#ifndef XLNX_TRANSFER_H
#define XLNX_TRANSFER_H

#include <stdint.h>

#if APP_COMPLETION_INTERRUPTS

#include "trap.h"

/* Looks at the devices for one transfer that find nothing to do; there is an interrupt between two of them. */
#define TRANSFER_LIMIT_LOOKS 10000u

extern volatile uint32_t transfer_interrupts;

/* From an interrupt's handler: something has ended. */
static inline void transfer_interrupted(void)
{
    transfer_interrupts = 1;
}

static inline void transfer_look(void)
{
    transfer_interrupts = 0;
}

/* Comes back after an interrupt since transfer_look(). If one does not come, no call waits any more: then the looks
   run out. */
void transfer_wait(void);

/* Keeps interrupts out; gives the state before. */
static inline uint32_t transfer_hold_interrupts(void)
{
    return trap_disable_interrupts();
}

static inline void transfer_release_interrupts(uint32_t before)
{
    trap_restore_interrupts(before);
}

#else

/* Far above a megabyte's transfer, at a handful of clocks a poll; a full FIFO at the slowest SCK (EXT_SPI_CLK / 2048)
   takes 0.5 s at 8 MHz: some 10^6 polls. */
#define TRANSFER_LIMIT_LOOKS 10000000u

static inline void transfer_look(void)
{
}

static inline void transfer_wait(void)
{
}

static inline uint32_t transfer_hold_interrupts(void)
{
    return 0;
}

static inline void transfer_release_interrupts(uint32_t before)
{
    (void)before;
}

#endif
#endif
