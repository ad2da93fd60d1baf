#include "link.h"

#include "clock.h"
#include "console.h"
#include "exit.h"
#include "stm32_rproc.h"
#include "string.h"

#define PATIENCE_US 5000000u

uint8_t link_block[SLOT_BYTES] __attribute__((aligned(64)));
uint32_t link_block_bytes;
volatile uint32_t link_done, link_value, link_received, link_blocks;

static volatile uint32_t channels;
static uint32_t offsets[SLOTS];
static uint32_t blocks_taken;

static void control_received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    struct ipc_message message;

    (void)endpoint, (void)src;
    if (bytes != sizeof message) {
        return;
    }
    memcpy(&message, data, sizeof message);
    if (message.operation == IPC_BLOCK) {
        offsets[link_blocks % SLOTS] = message.offset;
        link_blocks = link_blocks + 1;
    } else if (message.operation == IPC_DONE) {
        link_value = message.value;
        link_done = link_done + 1;
    }
}

/* Data of mode raw: to its place in the block. */
static void data_received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    uint32_t at = link_received % link_block_bytes;

    (void)endpoint, (void)src;
    if (bytes <= link_block_bytes - at) {
        memcpy(link_block + at, data, bytes);
    }
    link_received = link_received + bytes;
}

static struct rpmsg_endpoint control = {.name = CONTROL_CHANNEL, .addr = RPMSG_ADDR_ANY, .received = control_received};
static struct rpmsg_endpoint data_channel = {.name = DATA_CHANNEL, .addr = RPMSG_ADDR_ANY, .received = data_received};

static struct rpmsg_endpoint *channel(void *context, const char *name, uint32_t addr)
{
    (void)context, (void)addr;
    channels = channels + 1;
    return memcmp(name, CONTROL_CHANNEL, sizeof CONTROL_CHANNEL) == 0 ? &control : &data_channel;
}

bool link_start(void)
{
    if (!stm32_rproc_boot(APP_BUFFER_BYTES, channel)) {
        return false;
    }
    link_wait(&channels, 2, "channels");
    /* The M4 knows whom to send to once it has heard of them. */
    link_send(link_block, 0);
    return true;
}

static void check(int error)
{
    if (error) {
        console_print("ipc_modes: sending failed (%d)\n", error);
        program_exit(EXIT_FAILED);
    }
}

void link_tell(enum ipc_operation operation, uint32_t offset, uint32_t value)
{
    struct ipc_message message = {operation, offset, value};

    check(rpmsg_host_send(&stm32_rproc_host, &control, &message, sizeof message));
}

void link_resize(uint32_t bytes)
{
    uint32_t asked = link_done;

    link_block_bytes = bytes;
    link_tell(IPC_SIZE, 0, bytes);
    link_wait(&link_done, asked + 1, "answers");
}

void link_send(const uint8_t *data, uint32_t bytes)
{
    check(rpmsg_host_send(&stm32_rproc_host, &data_channel, data, bytes));
}

bool link_next_block(uint32_t *offset)
{
    if (blocks_taken == link_blocks) {
        return false;
    }
    *offset = offsets[blocks_taken++ % SLOTS];
    return true;
}

void link_wait(const volatile uint32_t *counter, uint32_t least, const char *what)
{
    uint64_t until = clock_ticks() + clock_ticks_of_us(PATIENCE_US);

    for (;;) {
        uint32_t seen = stm32_rproc_events();

        if (*counter >= least) {
            return;
        }
        if (clock_ticks() >= until) {
            console_print("ipc_modes: %u %s within %u us, not %u\n", *counter, what, PATIENCE_US, least);
            program_exit(EXIT_FAILED);
        }
        stm32_rproc_sleep(seen, until);
    }
}
