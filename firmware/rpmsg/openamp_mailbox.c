#include "openamp_mailbox.h"

#include <stdbool.h>
#include <stdint.h>

#include "stm32_ipcc.h"
#include "systick.h"

/* As in stm32_rproc.h, which is the A7's. */
#define CHANNEL_VRING0 1u
#define CHANNEL_VRING1 2u
#define CHANNEL_CRASH 3u
#define LIMIT_MS 500u

static struct link_monitor *monitor;
static volatile bool buffer_is_free, message_is_new;
static volatile bool acknowledging = true;
/* A kick that was not seen acknowledged yet, and when it was. */
static bool kicked;
static uint32_t kicked_ms;

/* The host has read messages of vring 0. */
static void buffer_free(uint32_t channel)
{
    buffer_is_free = true;
    ipcc_acknowledge(channel);
}

/* The host has written messages to vring 1. */
static void new_message(uint32_t channel)
{
    if (acknowledging) {
        message_is_new = true;
        ipcc_acknowledge(channel);
    }
}

void mailbox_start(struct link_monitor *link)
{
    monitor = link;
    ipcc_start();
    ipcc_on_message(CHANNEL_VRING0, buffer_free);
    ipcc_on_message(CHANNEL_VRING1, new_message);
}

static void overdue(uint32_t channel)
{
    link_fault(monitor, "mailbox: the A7 has not acknowledged channel %u for %u ms", channel, LIMIT_MS);
}

/* The kick of a message that is not taken would never be noticed without another one. */
static void check_last_kick(void)
{
    if (systick_ms() - kicked_ms > LIMIT_MS) {
        kicked = false;
        if (!ipcc_is_free(CHANNEL_VRING0)) {
            overdue(CHANNEL_VRING0);
        }
    }
}

void mailbox_poll(struct rpmsg_remote *remote)
{
    /* Each flag is taken back before its ring is looked at: what comes meanwhile sets it again. */
    if (buffer_is_free) {
        buffer_is_free = false;
        virtqueue_notified(&remote->tx);
    }
    if (message_is_new) {
        message_is_new = false;
        virtqueue_notified(&remote->rx);
    }
    if (kicked) {
        check_last_kick();
    }
}

/* Waits until the host has taken the last kick of the channel, as it does at once, and kicks. */
static void notify(uint32_t channel)
{
    uint32_t start_ms = systick_ms();

    while (ipcc_send(channel) != 0) {
        if (systick_ms() - start_ms > LIMIT_MS) {
            overdue(channel);
            return;
        }
    }
}

void mailbox_notify_tx(struct virtqueue_device *queue)
{
    (void)queue;
    notify(CHANNEL_VRING0);
    kicked = true;
    kicked_ms = systick_ms();
}

void mailbox_notify_rx(struct virtqueue_device *queue)
{
    (void)queue;
    notify(CHANNEL_VRING1);
}

void mailbox_tell_crash(void)
{
    ipcc_send(CHANNEL_CRASH);
}

void mailbox_stop_acknowledging(void)
{
    acknowledging = false;
}
