/* How the SD driver reaches a card: an SPI controller that exchanges bytes in mode 0 and drives the chip select. */
#ifndef SD_PORT_H
#define SD_PORT_H

#include <stdbool.h>
#include <stdint.h>

struct sd_port {
    /* Sends a byte, most significant bit first, and gives the byte that came in with it. */
    uint8_t (*exchange)(uint8_t byte);
    /* Drives the chip select: active (low) or not. No byte is under way. */
    void (*select)(bool active);
    /* The fastest clock up to `hz` that the controller has; one with a fixed clock keeps it. */
    void (*set_clock)(uint32_t hz);
    /* The slot's switches; a slot without them has a card that may be written. */
    bool (*has_card)(void);
    bool (*is_protected)(void);
};

/* The controller of the report, mmc0. */
extern const struct sd_port sd_port_avalonif;
/* Altera's SPI core, spi0. */
extern const struct sd_port sd_port_altr_spi;

#endif
