/* Definitions of blocks and of the messages about them, for both cores. */
#ifndef IPC_MODES_H
#define IPC_MODES_H

#include <stdint.h>

#define CONTROL_CHANNEL "ipc-control"
#define DATA_CHANNEL "ipc-data"

/* Slots of the shared buffer: a sender fills one while the other side still empties another. */
#define SLOTS 4u
#define SLOT_BYTES 0x00100000u

/* The part of a block that the M4 has in its SRAM at a time. */
#define PORTION_BYTES 0x8000u

enum ipc_operation {
    IPC_BLOCK,   /* a block is in the shared buffer, at `offset` */
    IPC_DONE,    /* a block was taken; or CHECK's answer, `value` bytes are wrong */
    IPC_REQUEST, /* to the M4: send `value` blocks */
    IPC_CHECK,   /* to the M4: is the last portion what it should be? */
    IPC_SIZE,    /* to the M4: blocks have `value` bytes from now on; DONE follows */
};

/* On the control channel. */
struct ipc_message {
    uint32_t operation;
    uint32_t offset;
    uint32_t value;
};

/* Byte `at` of each block. */
static inline uint8_t ipc_pattern(uint32_t at)
{
    at %= PORTION_BYTES;
    return (uint8_t)(at ^ at >> 8);
}

#endif
