/* Definitions for both cores. */
#ifndef HELLO_H
#define HELLO_H

/* The channel that signals the M4's message, and the message, which is the first word of the shared SRAM. */
#define HELLO_CHANNEL 1u
#define HELLO_WORD 0x4D345F34u

#endif
