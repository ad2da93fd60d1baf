/* The M4's side: it takes blocks and says so, or sends as many as it is asked for. */
#include <stdint.h>

#include "blocks.h"
#include "ipc_modes.h"
#include "openamp.h"
#include "stm32_log.h"
#include "string.h"

static struct rpmsg_endpoint control, data_channel;
static uint32_t requested; /* blocks still to send */
static uint32_t taken;     /* of those that were put into the shared buffer */

static void tell(enum ipc_operation operation, uint32_t offset, uint32_t value)
{
    struct ipc_message message = {operation, offset, value};

    rpmsg_remote_send(&openamp_remote, &control, &message, sizeof message);
}

static void control_received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    struct ipc_message message;

    (void)endpoint, (void)src;
    if (bytes != sizeof message) {
        log_err("%d bytes on the control channel\n", (int)bytes);
        return;
    }
    memcpy(&message, data, sizeof message);
    switch (message.operation) {
    case IPC_BLOCK:
        blocks_take(message.offset);
        tell(IPC_DONE, message.offset, 0);
        break;
    case IPC_DONE: taken++; break;
    case IPC_REQUEST: requested += message.value; break;
    case IPC_CHECK: tell(IPC_DONE, 0, blocks_wrong()); break;
    case IPC_SIZE:
        blocks_resize(message.value);
        tell(IPC_DONE, 0, 0);
        break;
    default: log_err("operation %d\n", (int)message.operation); break;
    }
}

static void data_received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    (void)endpoint, (void)src;
    if (blocks_receive(data, bytes)) {
        tell(IPC_DONE, 0, 0);
    }
}

#if APP_MODE_RAW
static void send_block(void)
{
    for (uint32_t at = 0; at < blocks_bytes;) {
        uint32_t bytes = APP_BUFFER_BYTES - (uint32_t)RPMSG_HEADER_BYTES;
        const uint8_t *data = blocks_data(at, &bytes);

        rpmsg_remote_send(&openamp_remote, &data_channel, data, bytes);
        at += bytes;
    }
}

static void send_requested(void)
{
    send_block();
    requested--;
}
#else
/* One block, if there is a free slot. */
static void send_requested(void)
{
    static uint32_t sent;
    uint32_t offset = sent % SLOTS * SLOT_BYTES;

    if (sent - taken < SLOTS) {
        blocks_put(offset);
        tell(IPC_BLOCK, offset, 0);
        sent++;
        requested--;
    }
}
#endif

static void open(struct rpmsg_endpoint *endpoint, const char *name,
    void (*received)(struct rpmsg_endpoint *, void *, uint32_t, uint32_t))
{
    *endpoint =
        (struct rpmsg_endpoint){.name = name, .addr = RPMSG_ADDR_ANY, .dest = RPMSG_ADDR_ANY, .received = received};
    rpmsg_remote_create_endpoint(&openamp_remote, endpoint);
}

int main(void)
{
    openamp_start();
    log_start();
    blocks_start();
    open(&control, CONTROL_CHANNEL, control_received);
    open(&data_channel, DATA_CHANNEL, data_received);
    log_info("channels are open\n");
    for (;;) {
        openamp_check_for_message();
        if (requested) {
            send_requested();
        }
    }
}
