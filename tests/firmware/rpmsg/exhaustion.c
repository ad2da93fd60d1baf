/* Sixteen messages fill the ring; the next one is refused, or waits until the remote has read one, or ends in a
 * fault. */
#include "console.h"
#include "loopback.h"

static struct loopback link;
static uint32_t at_remote;

static void remote_received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    (void)endpoint, (void)data, (void)bytes, (void)src;
    at_remote++;
}

static void host_received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    (void)endpoint, (void)data, (void)bytes, (void)src;
}

static uint32_t fill(void)
{
    uint32_t sent = 0;

    while (rpmsg_host_trysend(&link.host, &link.host_endpoint, "x", 1) == 0) {
        sent++;
    }
    return sent;
}

int main(void)
{
    int result;

    loopback_start(&link, host_received, remote_received);
    console_print("ring takes %u\n", fill());
    result = rpmsg_host_trysend(&link.host, &link.host_endpoint, "x", 1);
    console_print("trysend %d, remote has %u\n", result, at_remote);
    result = rpmsg_host_send(&link.host, &link.host_endpoint, "x", 1);
    console_print("send %d, remote has %u, waits %u, notified of %u returned\n", result, at_remote, link.host.waits,
        link.remote_kicks[1]);
    loopback_serve(&link);
    console_print("then %u, notified of %u returned\n", at_remote, link.remote_kicks[1]);
    fill();
    loopback_helps_sleepers = false;
    result = rpmsg_host_send(&link.host, &link.host_endpoint, "x", 1);
    console_print("send %d\n", result);
    for (int i = 0; i < 16; i++) {
        result = rpmsg_remote_send(&link.remote, &link.remote_endpoint, "y", 1);
    }
    console_print("remote's 16th %d\n", result);
    console_print("remote's 17th %d\n", rpmsg_remote_send(&link.remote, &link.remote_endpoint, "y", 1));
    return 0;
}
