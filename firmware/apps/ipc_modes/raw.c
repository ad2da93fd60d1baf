/* RPMsg alone: a block as messages, copied into and out of the small buffers by the cores. */
#include "link.h"
#include "modes.h"
#include "stm32_rproc.h"

static void start(void)
{
}

static void send_block(void)
{
    uint32_t longest = rpmsg_host_payload_bytes(&stm32_rproc_host);

    for (uint32_t at = 0; at < link_block_bytes; at += longest) {
        uint32_t left = link_block_bytes - at;

        link_send(link_block + at, left < longest ? left : longest);
    }
}

static void send(uint32_t count)
{
    uint32_t last = link_done + count;

    for (uint32_t i = 0; i < count; i++) {
        send_block();
    }
    link_wait(&link_done, last, "blocks taken");
}

static void fetch(uint32_t count)
{
    link_received = 0;
    link_tell(IPC_REQUEST, 0, count);
    link_wait(&link_received, count * link_block_bytes, "bytes received");
}

const struct mode mode_raw = {start, send, fetch};
