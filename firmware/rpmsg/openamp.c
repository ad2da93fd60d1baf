#include "openamp.h"

#include "armv7m.h"
#include "board.h"
#include "openamp_mailbox.h"
#include "resource_table.h"
#include "stm32_log.h"
#include "string.h"
#include "systick.h"

/* As STM32Cube's rsc_table.c and openamp_conf.h have it. */
#define RING_BUFFERS 16u
#define RING_ALIGN 16u

struct rpmsg_remote openamp_remote;

static struct link_monitor monitor;
static char trace[LINK_FAULT_BYTES];

#define RING(id) {.da = RSC_ADDR_ANY, .align = RING_ALIGN, .num = RING_BUFFERS, .notifyid = (id)}

/* The host's loader changes it; nothing here does. */
static volatile struct resource_table table __attribute__((section(".resource_table"), used)) = {
    .header = {.ver = 1, .num = 2},
    .offset = {offsetof(struct resource_table, vdev), offsetof(struct resource_table, trace)},
    .vdev = {.type = RSC_VDEV,
        .id = VIRTIO_ID_RPMSG,
        .dfeatures = 1u << VIRTIO_RPMSG_F_NS,
        .num_of_vrings = 2,
        .vring = {RING(0), RING(1)}},
    .trace = {.type = RSC_TRACE, .da = (uint32_t)trace, .len = sizeof trace, .name = "cm4_log"},
};

/* The last word: in the log, and in the trace buffer for the host, which ends the run. */
static void stop(struct link_monitor *broken)
{
    memcpy(trace, broken->text, sizeof trace);
    log_err("%s\n", broken->text);
    mailbox_tell_crash();
    armv7m_disable_interrupts();
    for (;;) {
        armv7m_wait_for_interrupt();
    }
}

static void wait_ms(void)
{
    systick_delay_ms(1);
}

void openamp_start(void)
{
    struct rpmsg_remote_memory memory;

    monitor.report = stop;
    mailbox_start(&monitor);
    while (!(table.vdev.status & VIRTIO_STATUS_DRIVER_OK)) {
    }
    vring_barrier();
    memory = (struct rpmsg_remote_memory){
        .vring0 = table.vdev.vring[0].da,
        .vring1 = table.vdev.vring[1].da,
        .num = table.vdev.vring[0].num,
        .align = table.vdev.vring[0].align,
        .window = {.base = BOARD_SHARED_SRAM_BASE, .bytes = BOARD_SHARED_SRAM_BYTES, .longest = APP_BUFFER_BYTES},
        .name_service = table.vdev.gfeatures & (1u << VIRTIO_RPMSG_F_NS),
    };
    openamp_remote.tx.notify = mailbox_notify_tx;
    openamp_remote.rx.notify = mailbox_notify_rx;
    openamp_remote.wait_ms = wait_ms;
    rpmsg_remote_start(&openamp_remote, &monitor, &memory);
}

void openamp_check_for_message(void)
{
    mailbox_poll(&openamp_remote);
}

void openamp_stop_acknowledging(void)
{
    mailbox_stop_acknowledging();
}
