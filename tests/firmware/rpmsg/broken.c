/* A link that one side breaks, in each way once: the side that sees it prints a line, and sends nothing more. */
#include "console.h"
#include "loopback.h"
#include "string.h"

static struct loopback link;
static uint32_t at_remote, at_host;

static void remote_received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    (void)endpoint, (void)data, (void)bytes, (void)src;
    at_remote++;
}

static void host_received(struct rpmsg_endpoint *endpoint, void *data, uint32_t bytes, uint32_t src)
{
    (void)endpoint, (void)data, (void)bytes, (void)src;
    at_host++;
}

/* A message of the host, in the ring before the remote is notified. */
static struct rpmsg_header *host_message(void)
{
    struct vring *vring = &link.host.tx.vring;

    rpmsg_host_send(&link.host, &link.host_endpoint, "abc", 3);
    return (struct rpmsg_header *)(uintptr_t)vring->desc[vring->avail->ring[(link.host.tx.avail_idx - 1) & 15]].addr;
}

static volatile struct vring_desc *last_descriptor(void)
{
    struct vring *vring = &link.host.tx.vring;

    return &vring->desc[vring->avail->ring[(link.host.tx.avail_idx - 1) & 15]];
}

/* A message of the remote, in the ring before the host is notified. */
static struct rpmsg_header *remote_message(const void *data, uint32_t bytes)
{
    struct vring *vring = &link.remote.tx.vring;

    rpmsg_remote_send(&link.remote, &link.remote_endpoint, data, bytes);
    return (struct rpmsg_header *)(uintptr_t)vring->desc[vring->used->ring[(link.remote.tx.used_idx - 1) & 15].id].addr;
}

static volatile struct vring_used_elem *last_used(void)
{
    return &link.remote.tx.vring.used->ring[(link.remote.tx.used_idx - 1) & 15];
}

static void avail_index(void)
{
    host_message();
    link.host.tx.vring.avail->idx = 40000;
}

static void avail_descriptor(void)
{
    host_message();
    link.host.tx.vring.avail->ring[(link.host.tx.avail_idx - 1) & 15] = 77;
}

static void descriptor_length(void)
{
    host_message();
    last_descriptor()->len = 600;
}

static void descriptor_address(void)
{
    host_message();
    last_descriptor()->addr = 0x1000;
}

static void short_buffer(void)
{
    host_message();
    last_descriptor()->len = 8;
}

static void payload(void)
{
    host_message()->len = 500;
}

static void endpoint(void)
{
    host_message()->dst = 0x77;
}

static void used_index(void)
{
    remote_message("abc", 3);
    link.remote.tx.vring.used->idx = 40000;
}

static void used_descriptor(void)
{
    remote_message("abc", 3);
    last_used()->id = 77;
}

static void used_length(void)
{
    remote_message("abc", 3);
    last_used()->len = 5000;
}

static void remote_payload(void)
{
    remote_message("abc", 3)->len = 500;
}

static void remote_endpoint(void)
{
    remote_message("abc", 3)->dst = 0x999;
}

static void name_bytes(void)
{
    remote_message("abc", 3)->dst = RPMSG_NS_ADDR;
}

static void name(void)
{
    struct rpmsg_ns_message message = {.addr = 5};

    memset(message.name, 'n', sizeof message.name);
    remote_message(&message, sizeof message)->dst = RPMSG_NS_ADDR;
}

static void run(const char *name, void (*break_it)(void))
{
    int host, remote;

    console_print("%s\n", name);
    loopback_start(&link, host_received, remote_received);
    host_message();
    loopback_serve(&link); /* the remote knows the host's address from now on */
    remote_message("abc", 3);
    loopback_serve(&link);
    break_it();
    loopback_serve(&link);
    host = rpmsg_host_send(&link.host, &link.host_endpoint, "x", 1);
    remote = rpmsg_remote_send(&link.remote, &link.remote_endpoint, "x", 1);
    console_print("then host %d, remote %d\n", host, remote);
}

int main(void)
{
    run("avail_index", avail_index);
    run("avail_descriptor", avail_descriptor);
    run("descriptor_length", descriptor_length);
    run("descriptor_address", descriptor_address);
    run("short_buffer", short_buffer);
    run("payload", payload);
    run("endpoint", endpoint);
    run("used_index", used_index);
    run("used_descriptor", used_descriptor);
    run("used_length", used_length);
    run("remote_payload", remote_payload);
    run("remote_endpoint", remote_endpoint);
    run("name_bytes", name_bytes);
    run("name", name);
    return 0;
}
