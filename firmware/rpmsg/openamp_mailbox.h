/* The M4's mailbox: interrupts set a flag for each channel, the main loop looks at them (STM32Cube, mbox_ipcc.c). */
#ifndef OPENAMP_MAILBOX_H
#define OPENAMP_MAILBOX_H

#include "link_fault.h"
#include "rpmsg_remote.h"

void mailbox_start(struct link_monitor *monitor);

/* Hands the host's kicks to their rings. */
void mailbox_poll(struct rpmsg_remote *remote);

/* Notifications of the rings: wait for the channel to be free, then kick the host. */
void mailbox_notify_tx(struct virtqueue_device *queue);
void mailbox_notify_rx(struct virtqueue_device *queue);

/* Signals to the host that the trace buffer has the M4's last message. */
void mailbox_tell_crash(void);

/* See openamp_stop_acknowledging. */
void mailbox_stop_acknowledging(void);

#endif
