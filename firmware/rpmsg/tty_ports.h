/* The ttys that the M4's channels become: /dev/ttyRPMSG0 and 1. */
#ifndef TTY_PORTS_H
#define TTY_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tty.h"

#define TTY_PORTS 2u

extern struct tty tty_ports[TTY_PORTS];

/* Boots the M4, and waits until it has announced both channels. False, with a word on the console, if it does not. */
bool tty_ports_start(uint32_t buffer_bytes);

#endif
