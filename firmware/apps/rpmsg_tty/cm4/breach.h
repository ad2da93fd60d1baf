/* The link broken on purpose, by the M4 (settings fault, fault_side). */
#ifndef BREACH_H
#define BREACH_H

#include "rpmsg.h"

/* Breaks the link after the first message of a block, if this core is to. */
void breach_after_message(struct rpmsg_endpoint *endpoint);

#endif
