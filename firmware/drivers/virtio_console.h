/* A virtio console (VIRTIO 1.1, 5.3) with MMIO registers (4.2.2): a serial port to the host of a virtual board. Needs
 * rpmsg/virtqueue_driver.c. */
#ifndef VIRTIO_CONSOLE_H
#define VIRTIO_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "virtqueue_driver.h"

#define VIRTIO_CONSOLE_BUFFERS 4u
#define VIRTIO_CONSOLE_BUFFER_BYTES 4096u
/* Descriptors, available and used ring of one queue, and some more. */
#define VIRTIO_CONSOLE_RING_BYTES 256u

struct virtio_console {
    uintptr_t base;
    struct link_monitor *monitor;
    struct virtqueue_driver receive, transmit;
    uint8_t *held; /* what virtio_console_read gave last */
    uint8_t rings[2][VIRTIO_CONSOLE_RING_BYTES] __attribute__((aligned(16)));
    uint8_t buffers[VIRTIO_CONSOLE_BUFFERS][VIRTIO_CONSOLE_BUFFER_BYTES];
};

/* Sets up the device with registers at `base`: from then on it has buffers for the host's bytes. A fault and false if
 * it is not one. */
bool virtio_console_start(struct virtio_console *console, uintptr_t base, struct link_monitor *monitor);

/* The next bytes that the host wrote: their number, 0 without any, and their place. */
uint32_t virtio_console_read(struct virtio_console *console, const uint8_t **data);

/* The data of the last read have been used: returns their memory to the device. */
void virtio_console_done(struct virtio_console *console);

/* Sends bytes to the host, and waits until the device has them. False if the link had a fault. */
bool virtio_console_write(struct virtio_console *console, const uint8_t *data, uint32_t bytes);

/* To be called for the device's interrupt: it is cleared. A fault if the device can't continue. */
void virtio_console_interrupt(struct virtio_console *console);

#endif
