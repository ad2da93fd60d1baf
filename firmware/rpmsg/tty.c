#include "tty.h"

#include "string.h"

/* The driver's callback, and the flip buffer that the tty layer reads from. */
static void received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    struct tty *tty = endpoint->context;
    const uint8_t *byte = data;

    (void)src;
    for (uint32_t i = 0; i < bytes; i++) {
        if (tty->head - tty->tail == TTY_BUFFER_BYTES) {
            tty->lost += bytes - i;
            return;
        }
        tty->buffer[tty->head % TTY_BUFFER_BYTES] = byte[i];
        tty->head = tty->head + 1;
    }
}

struct rpmsg_endpoint *tty_probe(struct tty *tty, struct rpmsg_host *host)
{
    tty->host = host;
    tty->endpoint =
        (struct rpmsg_endpoint){.name = TTY_CHANNEL, .addr = RPMSG_ADDR_ANY, .received = received, .context = tty};
    return &tty->endpoint;
}

/* rpmsg_tty_write: a piece as messages. */
__attribute__((noinline)) static int driver_write(struct tty *tty, const uint8_t *data, uint32_t bytes)
{
    uint32_t longest = rpmsg_host_payload_bytes(tty->host);

    while (bytes) {
        uint32_t part = bytes > longest ? longest : bytes;
        int error = tty->stuck ? rpmsg_host_trysend(tty->host, &tty->endpoint, data, part)
                               : rpmsg_host_send(tty->host, &tty->endpoint, data, part);

        if (error) {
            return error;
        }
        tty->sent += part;
        data += part;
        bytes -= part;
    }
    return 0;
}

int tty_write(struct tty *tty, const uint8_t *data, uint32_t bytes)
{
    while (bytes) {
        uint32_t piece = bytes > TTY_PIECE_BYTES ? TTY_PIECE_BYTES : bytes;
        int error = driver_write(tty, data, piece);

        if (error) {
            if (error == RPMSG_NO_BUFFER && tty->stuck) {
                tty->stuck(tty);
            }
            return error;
        }
        tty->accepted += piece;
        data += piece;
        bytes -= piece;
    }
    return 0;
}

/* Whether a byte is available, after sleeping for it if necessary. */
static bool wait_for_byte(struct tty *tty, uint32_t limit_ms)
{
    const struct rpmsg_host_ops *ops = tty->host->ops;
    uint64_t until_ms;

    if (tty->head != tty->tail) {
        return true;
    }
    until_ms = ops->now_ms(ops->context) + limit_ms;
    for (;;) {
        uint32_t seen = ops->events(ops->context);

        if (tty->head != tty->tail || ops->now_ms(ops->context) >= until_ms || tty->host->monitor->broken) {
            break;
        }
        ops->sleep(ops->context, seen, until_ms);
    }
    if (tty->woken) {
        tty->woken(tty);
    }
    return tty->head != tty->tail;
}

uint32_t tty_read(struct tty *tty, uint8_t *data, uint32_t bytes, uint32_t limit_ms)
{
    uint32_t count = 0;

    if (!wait_for_byte(tty, limit_ms)) {
        return 0;
    }
    while (count < bytes && tty->head != tty->tail) {
        data[count++] = tty->buffer[tty->tail % TTY_BUFFER_BYTES];
        tty->tail = tty->tail + 1;
    }
    return count;
}
