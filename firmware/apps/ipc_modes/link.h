/* The A7's ends of the two channels. */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc_modes.h"
#include "rpmsg.h"

/* The block as the A7 has it, in its own memory; the host's part of both modes. */
extern uint8_t link_block[SLOT_BYTES];
/* How many bytes it has. */
extern uint32_t link_block_bytes;

/* Reports of the M4: the number of blocks taken, and the value of its last answer. */
extern volatile uint32_t link_done, link_value;
/* Bytes of data messages that were received. */
extern volatile uint32_t link_received;

/* Starts the M4 and waits for its channels. */
bool link_start(void);

/* Blocks have `bytes` bytes from now on, on both sides. */
void link_resize(uint32_t bytes);

/* Sends on the control channel, or data. */
void link_tell(enum ipc_operation operation, uint32_t offset, uint32_t value);
void link_send(const uint8_t *data, uint32_t bytes);

/* The next block that the M4 has put into the shared buffer: true and its offset, if there is one. */
bool link_next_block(uint32_t *offset);

/* Sleeps until `counter` is `least` or more. Ends the program if that takes 5 s. */
void link_wait(const volatile uint32_t *counter, uint32_t least, const char *what);

/* Counts the blocks that link_next_block has or had. */
extern volatile uint32_t link_blocks;

#endif
