#include "stm32_rproc.h"

#include "arm.h"
#include "arm_generic_timer.h"
#include "board.h"
#include "clock.h"
#include "console.h"
#include "exit.h"
#include "interrupts.h"
#include "stm32_ipcc.h"
#include "stm32_rcc.h"

/* Linux's mailbox framework keeps as many messages of a channel. */
#define KICKS_MAX 20u

/* The M4's program, which the build puts into this one. */
extern const uint8_t cm4_firmware_start[], cm4_firmware_end[];

/* Kicks of a channel: one is on its way, others wait for it. */
struct kicks {
    uint32_t waiting;
    bool sent;
    uint64_t since;
};

struct rpmsg_host stm32_rproc_host;

static struct link_monitor monitor;
static struct remoteproc m4;
static struct kicks kicks[MAILBOX_CRASH];
static volatile uint32_t events;
static volatile bool acknowledging = true;

/* The M4's view of the memory (Linux, stm32mp151.dtsi, m4@10000000). */
static const struct remoteproc_memory memories[] = {
    {0x00000000u, BOARD_RETRAM_BYTES, BOARD_RETRAM_BASE},
    {BOARD_MCU_SRAM_BASE, BOARD_MCU_SRAM_BYTES, BOARD_MCU_SRAM_BASE},
};

static const struct remoteproc_carveout carveout = {
    .vring0 = BOARD_VRING0_BASE,
    .vring1 = BOARD_VRING1_BASE,
    .buffers = BOARD_RPMSG_BUFFERS_BASE,
    .vring_bytes = BOARD_VRING_BYTES,
    .buffers_bytes = BOARD_SHARED_SRAM_BASE + BOARD_SHARED_SRAM_BYTES - BOARD_RPMSG_BUFFERS_BASE,
};

static void end_with_fault(struct link_monitor *broken)
{
    console_print("rpmsg: a7: %s\n", broken->text);
    program_exit(EXIT_FAILED);
}

/* The M4 has found a fault: its words are in the trace buffer. */
static void crashed(uint32_t channel)
{
    (void)channel;
    console_print("remoteproc: crash of m4: ");
    for (uint32_t i = 0; m4.trace && i < m4.trace_bytes && m4.trace[i]; i++) {
        console_print("%c", m4.trace[i]);
    }
    console_print("\n");
    program_exit(EXIT_FAILED);
}

static void kicked(uint32_t channel)
{
    if (channel == MAILBOX_VRING0 && !acknowledging) {
        return;
    }
    ipcc_acknowledge(channel);
    events++;
    virtqueue_interrupt(channel == MAILBOX_VRING0 ? &stm32_rproc_host.rx : &stm32_rproc_host.tx);
}

static void send_next(uint32_t channel);

/* The M4 has acknowledged a kick. */
static void acknowledged(uint32_t channel)
{
    kicks[channel - 1].sent = false;
    send_next(channel);
}

/* With interrupts off. */
static void send_next(uint32_t channel)
{
    struct kicks *queue = &kicks[channel - 1];

    if (queue->waiting && !queue->sent && ipcc_send(channel) == 0) {
        queue->waiting--;
        queue->sent = true;
        queue->since = clock_ticks();
        ipcc_on_free(channel, acknowledged);
    }
}

static void kick(uint32_t channel)
{
    uint32_t before = interrupts_save();
    bool full = kicks[channel - 1].waiting == KICKS_MAX;

    if (!full) {
        kicks[channel - 1].waiting++;
        send_next(channel);
    }
    interrupts_restore(before);
    if (full) {
        link_fault(&monitor, "mailbox: %u kicks of channel %u wait for an acknowledgement", KICKS_MAX, channel);
    }
}

static void kick_rx(struct virtqueue_driver *queue)
{
    (void)queue;
    kick(MAILBOX_VRING0);
}

static void kick_tx(struct virtqueue_driver *queue)
{
    (void)queue;
    kick(MAILBOX_VRING1);
}

/* Until when a kick has to be acknowledged; far away if none is on its way. Names its channel. */
static uint64_t mailbox_deadline(uint32_t *channel)
{
    uint64_t first = UINT64_MAX;

    for (uint32_t i = 0; i < MAILBOX_CRASH; i++) {
        uint64_t limit = kicks[i].since + clock_ticks_of_us(MAILBOX_LIMIT_MS * 1000u);

        if (kicks[i].sent && limit < first) {
            first = limit;
            *channel = i + 1;
        }
    }
    return first;
}

uint32_t stm32_rproc_events(void)
{
    return events;
}

void stm32_rproc_sleep(uint32_t seen, uint64_t until)
{
    uint32_t channel = 0;
    uint64_t deadline = mailbox_deadline(&channel);
    uint64_t alarm = deadline < until ? deadline : until;

    clock_set_alarm(alarm);
    while (events == seen && clock_ticks() < alarm) {
        uint32_t before = interrupts_save();

        /* One that comes between the look and the wfi ends the wfi. */
        if (events == seen) {
            arm_wait_for_interrupt();
        }
        interrupts_restore(before);
    }
    clock_clear_alarm();
    if (mailbox_deadline(&channel) <= clock_ticks()) {
        link_fault(&monitor, "mailbox: the M4 has not acknowledged channel %u for %u ms", channel, MAILBOX_LIMIT_MS);
    }
}

static uint64_t now_ms(void *context)
{
    (void)context;
    return clock_ticks() / (BOARD_TIMER_HZ / 1000u);
}

static uint32_t host_events(void *context)
{
    (void)context;
    return events;
}

static void host_sleep(void *context, uint32_t seen, uint64_t until_ms)
{
    (void)context;
    stm32_rproc_sleep(seen, until_ms * (BOARD_TIMER_HZ / 1000u));
}

static void start_mailbox(void)
{
    ipcc_start();
    ipcc_on_message(MAILBOX_VRING0, kicked);
    ipcc_on_message(MAILBOX_VRING1, kicked);
    ipcc_on_message(MAILBOX_CRASH, crashed);
}

bool stm32_rproc_boot(
    uint32_t buffer_bytes, struct rpmsg_endpoint *(*channel)(void *context, const char *name, uint32_t addr))
{
    static struct rpmsg_host_ops ops = {.now_ms = now_ms, .events = host_events, .sleep = host_sleep};
    struct rpmsg_host_memory memory;

    ops.channel = channel;
    monitor.report = end_with_fault;
    m4 = (struct remoteproc){
        .monitor = &monitor, .memories = memories, .memory_count = sizeof memories / sizeof memories[0]};
    if (!remoteproc_load(&m4, cm4_firmware_start, (uint32_t)(cm4_firmware_end - cm4_firmware_start)) ||
        !remoteproc_place_vrings(&m4, &carveout, buffer_bytes, &memory)) {
        return false;
    }
    stm32_rproc_host.rx.notify = kick_rx;
    stm32_rproc_host.tx.notify = kick_tx;
    start_mailbox();
    arm_dsb();
    rcc_start_mcu();
    rpmsg_host_start(&stm32_rproc_host, &monitor, &ops, &memory);
    remoteproc_driver_ok(&m4);
    virtqueue_kick(&stm32_rproc_host.rx);
    return true;
}

void stm32_rproc_stop_acknowledging(void)
{
    acknowledging = false;
}
