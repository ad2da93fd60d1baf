/* The Cortex-M4 of an STM32MP157 as the A7 sees it: a remote processor with one RPMsg device, kicked through the IPCC.
 * Structure after Linux's drivers/remoteproc/stm32_rproc.c, drivers/mailbox/stm32-ipcc.c and the mailbox framework. */
#ifndef STM32_RPROC_H
#define STM32_RPROC_H

#include <stdbool.h>
#include <stdint.h>

#include "remoteproc.h"
#include "rpmsg_host.h"

/* Channels of the mailbox: vring 0, vring 1, and the M4's last word. */
#define MAILBOX_VRING0 1u
#define MAILBOX_VRING1 2u
#define MAILBOX_CRASH 3u

/* How long a channel may stay occupied; Linux's driver gives a message as long (stm32_rproc.c, tx_tout). */
#define MAILBOX_LIMIT_MS 500u

/* The host, for sending. */
extern struct rpmsg_host stm32_rproc_host;

/* Loads the M4's program, which this one carries, starts it, and serves its interrupts from then on. `channel` is
 * rpmsg_host_ops'. False if the program can't be used. Any fault of the link ends this program with status 1. */
bool stm32_rproc_boot(
    uint32_t buffer_bytes, struct rpmsg_endpoint *(*channel)(void *context, const char *name, uint32_t addr));

/* How many of the M4's interrupts were served; see rpmsg_host_ops. */
uint32_t stm32_rproc_events(void);

/* Sleeps until that is no longer `seen`, or clock_ticks is `until`. A mailbox that is not acknowledged is a fault. */
void stm32_rproc_sleep(uint32_t seen, uint64_t until);

/* For tests of the other side: the M4's kicks of vring 0 are not acknowledged from now on. */
void stm32_rproc_stop_acknowledging(void);

#endif
