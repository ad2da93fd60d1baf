/* Messages of all lengths go both ways, in order and unchanged, until all indices have gone round; and what there is of
 * buffers is used. */
#include "console.h"
#include "loopback.h"

#ifndef MESSAGES
#define MESSAGES 70000u
#endif

static struct loopback link;
static uint32_t sent, at_remote, at_host, wrong;

static uint32_t random_of(uint32_t number)
{
    number = number * 2654435761u + 12345u;
    number ^= number >> 15;
    return number * 2246822519u;
}

static uint32_t length_of(uint32_t number)
{
    return number % 16 ? random_of(number) % 24 : random_of(number) % (PAYLOAD_BYTES + 1);
}

static void fill(uint8_t *data, uint32_t number)
{
    for (uint32_t i = 0; i < length_of(number); i++) {
        data[i] = (uint8_t)(number * 31 + i);
    }
}

static void check(const uint8_t *data, uint32_t bytes, uint32_t number)
{
    wrong += bytes != length_of(number);
    for (uint32_t i = 0; i < bytes; i++) {
        wrong += data[i] != (uint8_t)(number * 31 + i);
    }
}

/* The remote sends each message back. */
static void remote_received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    check(data, bytes, at_remote++);
    wrong += src != link.host_endpoint.addr;
    if (rpmsg_remote_send(&link.remote, endpoint, data, bytes) != 0) {
        wrong++;
    }
}

static void host_received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    check(data, bytes, at_host++);
    wrong += src != endpoint->dest;
}

int main(void)
{
    static uint8_t data[PAYLOAD_BYTES + 1];

    loopback_start(&link, host_received, remote_received);
    while (sent < MESSAGES) {
        for (uint32_t burst = random_of(sent) % 8 + 1; burst && sent < MESSAGES; burst--) {
            fill(data, sent);
            wrong += rpmsg_host_send(&link.host, &link.host_endpoint, data, length_of(sent)) != 0;
            sent++;
        }
        loopback_serve(&link);
    }
    console_print("sent %u, at the remote %u, back at the host %u, wrong %u, waits %u\n", sent, at_remote, at_host,
        wrong, link.host.waits);
    wrong += rpmsg_host_send(&link.host, &link.host_endpoint, data, PAYLOAD_BYTES + 1) != RPMSG_TOO_LONG;
    return sent == at_remote && sent == at_host && !wrong ? 0 : 1;
}
