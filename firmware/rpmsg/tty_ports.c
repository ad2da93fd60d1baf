#include "tty_ports.h"

#if APP_TRANSCRIPT_ON
#include "arm_generic_timer.h"
#endif
#include "clock.h"
#include "console.h"
#include "stm32_rproc.h"
#include "string.h"

#define BOOT_LIMIT_US 1000000u

struct tty tty_ports[TTY_PORTS];
static volatile uint32_t found;

#if APP_TRANSCRIPT_ON
/* As the kernel's log has it: seconds. */
static void print_stamp(void)
{
    uint32_t us = (uint32_t)(clock_ns_of_ticks(clock_ticks()) / 1000u);

    console_print("[%5u.%06u] ", us / 1000000u, us % 1000000u);
}
#endif

/* A channel of the M4's: the driver takes the first two ttys. */
static struct rpmsg_endpoint *channel(void *context, const char *name, uint32_t addr)
{
    struct rpmsg_endpoint *endpoint;

    (void)context;
#if APP_TRANSCRIPT_ON
    print_stamp();
#endif
    console_print("rpmsg: creating channel %s addr 0x%x\n", name, addr);
    if (found == TTY_PORTS || memcmp(name, TTY_CHANNEL, sizeof TTY_CHANNEL) != 0) {
        return NULL;
    }
    endpoint = tty_probe(&tty_ports[found], &stm32_rproc_host);
    found = found + 1;
    return endpoint;
}

static bool wait_for_ports(void)
{
    uint64_t until = clock_ticks() + clock_ticks_of_us(BOOT_LIMIT_US);

    while (found < TTY_PORTS && clock_ticks() < until) {
        uint32_t seen = stm32_rproc_events();

        if (found < TTY_PORTS) {
            stm32_rproc_sleep(seen, until);
        }
    }
    return found == TTY_PORTS;
}

bool tty_ports_start(uint32_t buffer_bytes)
{
    if (!stm32_rproc_boot(buffer_bytes, channel)) {
        return false;
    }
    if (!wait_for_ports()) {
        console_print("rpmsg: %u of %u channels within %u us\n", found, TTY_PORTS, BOOT_LIMIT_US);
        return false;
    }
    for (uint32_t i = 0; i < TTY_PORTS; i++) {
        struct rpmsg_endpoint *endpoint = &tty_ports[i].endpoint;

        console_print("rpmsg_tty: new channel: 0x%x -> 0x%x : ttyRPMSG%u\n", endpoint->addr, endpoint->dest, i);
    }
    return true;
}
