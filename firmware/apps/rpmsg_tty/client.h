/* The report's benchmark client: it writes blocks to a tty and waits for the other end's acknowledgement. */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdint.h>

#include "tty.h"

#define CLIENT_BUFFER_BYTES 32768u

/* As the client sets up the tty: VTIME is 10, VMIN 0. A read without a byte for as long gives none. */
#define CLIENT_READ_LIMIT_MS 1000u

struct client_test {
    uint32_t block_bytes, blocks;
    uint64_t ticks;        /* result: of clock_ticks */
    uint32_t acknowledged; /* result: as the other end says it */
};

/* Fills the buffer, and gives the CRC over all of it. */
uint16_t client_start(void);

/* One test. 0, or what tty_write gives, or 1 if no acknowledgement came. */
int run_test(struct tty *tty, struct client_test *test);

#endif
