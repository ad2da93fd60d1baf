#include "rpmsg.h"

#include <stddef.h>

struct rpmsg_endpoint *rpmsg_find_endpoint(struct rpmsg_endpoint *list, uint32_t addr)
{
    while (list && list->addr != addr) {
        list = list->next;
    }
    return list;
}

int rpmsg_header_fits(
    struct link_monitor *monitor, const char *ring, const volatile struct rpmsg_header *header, uint32_t bytes)
{
    uint32_t len;

    if (bytes < RPMSG_HEADER_BYTES) {
        link_fault(
            monitor, "%s: a message of %u bytes, its header alone has %u", ring, bytes, (uint32_t)RPMSG_HEADER_BYTES);
        return 0;
    }
    len = header->len;
    if (len > bytes - RPMSG_HEADER_BYTES) {
        link_fault(
            monitor, "%s: a payload of %u bytes in a buffer for %u", ring, len, bytes - (uint32_t)RPMSG_HEADER_BYTES);
        return 0;
    }
    return 1;
}

void rpmsg_deliver(
    struct link_monitor *monitor, const char *ring, struct rpmsg_endpoint *list, struct rpmsg_header *header)
{
    struct rpmsg_endpoint *endpoint = rpmsg_find_endpoint(list, header->dst);

    if (!endpoint) {
        link_fault(
            monitor, "%s: a message from 0x%x to endpoint 0x%x, which nobody has", ring, header->src, header->dst);
        return;
    }
    if (endpoint->dest == RPMSG_ADDR_ANY) {
        endpoint->dest = header->src; /* the first message has the address of the other end */
    }
    endpoint->received(endpoint, header + 1, header->len, header->src);
}
