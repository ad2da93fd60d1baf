/* What Linux has between a program and an RPMsg channel: the tty layer (tty_io.c, n_tty.c, without any processing of
 * characters) and the driver rpmsg_tty of ST's kernel 4.19 and 5.4. */
#ifndef TTY_H
#define TTY_H

#include <stdbool.h>
#include <stdint.h>

#include "rpmsg_host.h"

/* The tty layer hands on a write in pieces (tty_io.c, tty_write). */
#define TTY_PIECE_BYTES 2048u
#define TTY_BUFFER_BYTES 4096u

/* The name of the channels that the driver is for; a name has RPMSG_NAME_BYTES in its message. */
#define TTY_CHANNEL "rpmsg-tty-channel"

struct tty {
    struct rpmsg_host *host;
    struct rpmsg_endpoint endpoint;
    uint8_t buffer[TTY_BUFFER_BYTES]; /* what was received and not read */
    volatile uint32_t head, tail;     /* of all bytes that came and were read */
    uint32_t lost;                    /* bytes for which there was no room */
    uint32_t accepted, sent;          /* bytes that writers know to be on their way, and that went over the link */
    /* If set, the driver does as ST's: a message without a free buffer is given up, and so is its piece, whatever went
     * out of it. The writer sleeps until it is woken, which never happens. This is called instead of sleeping. */
    void (*stuck)(struct tty *tty);
    /* A reader that slept continues; null if that takes no time. */
    void (*woken)(struct tty *tty);
    void *context; /* of whoever has these two */
};

/* To be called for the channel "rpmsg-tty-channel": the endpoint that shall have it. */
struct rpmsg_endpoint *tty_probe(struct tty *tty, struct rpmsg_host *host);

/* Writes all of it. 0, or an rpmsg_error; RPMSG_NO_BUFFER if the writer is stuck. */
int tty_write(struct tty *tty, const uint8_t *data, uint32_t bytes);

/* Reads what there is, up to `bytes`; waits for the first byte, at most `limit_ms`. Returns their number, 0 if none
 * came. */
uint32_t tty_read(struct tty *tty, uint8_t *data, uint32_t bytes, uint32_t limit_ms);

#endif
