/* The tty over a channel: how a write is cut, what a reader gets, what happens to those that wait. */
#include "console.h"
#include "loopback.h"
#include "tty.h"

static struct loopback link;
static struct tty tty;
static uint8_t data[8192];
static bool shows;

static void remote_received(struct rpmsg_endpoint *endpoint, void *message, uint32_t bytes, uint32_t src)
{
    (void)endpoint, (void)message, (void)src;
    if (shows) {
        console_print(" %u", bytes);
    }
}

static void stuck(struct tty *stuck_tty)
{
    console_print("stuck: accepted %u, sent %u\n", stuck_tty->accepted, stuck_tty->sent);
}

static void woken(struct tty *woken_tty)
{
    (void)woken_tty;
    console_print("woken\n");
}

/* The loop's channel is the tty's from now on. */
static void start(void)
{
    loopback_start(&link, NULL, remote_received);
    link.host_endpoint = *tty_probe(&tty, &link.host);
    tty.endpoint.dest = link.remote_endpoint.addr;
    rpmsg_host_add_endpoint(&link.host, &tty.endpoint);
    link.remote_endpoint.dest = tty.endpoint.addr;
}

static void say(const char *text, uint32_t bytes)
{
    rpmsg_remote_send(&link.remote, &link.remote_endpoint, text, bytes);
}

static void write_shown(uint32_t bytes)
{
    shows = true;
    console_print("write %u:", bytes);
    tty_write(&tty, data, bytes);
    loopback_serve(&link);
    console_print("\n");
    shows = false;
}

static void read_shown(uint32_t bytes)
{
    uint8_t got[16] = {0};
    uint32_t count = tty_read(&tty, got, bytes, 1000);

    console_print("read %u of %u: %s\n", count, bytes, (const char *)got);
}

int main(void)
{
    start();
    write_shown(1);
    write_shown(496);
    write_shown(497);
    write_shown(4096);
    say("abcde", 5);
    tty.woken = woken;
    read_shown(2); /* sleeps: the loop serves it then */
    read_shown(9); /* what is left, at once */
    loopback_helps_sleepers = false;
    read_shown(2); /* nothing comes */
    for (int i = 0; i < 9; i++) {
        say((const char *)data, 496);
        loopback_serve(&link);
    }
    console_print("there %u, lost %u\n", tty.head - tty.tail, tty.lost);
    tty.stuck = stuck;
    tty.accepted = tty.sent = 0;
    console_print("write %d\n", tty_write(&tty, data, sizeof data));
    return 0;
}
