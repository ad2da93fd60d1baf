/* The M4's side of the link, with the structure of STM32Cube's application of OpenAMP: openamp.c, mbox_ipcc.c,
 * rsc_table.c. */
#ifndef OPENAMP_H
#define OPENAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "rpmsg_remote.h"

/* The remote, for endpoints and sending. */
extern struct rpmsg_remote openamp_remote;

/* Waits until the host has its driver, and takes up the rings. The host gets a report of any fault of the link, and
 * the M4 stops. */
void openamp_start(void);

/* Serves what the mailbox has brought since the last time; for the main loop. */
void openamp_check_for_message(void);

/* For tests of the other side: the host's kicks of vring 1 are not acknowledged from now on. */
void openamp_stop_acknowledging(void);

#endif
