/* AT86RF231 or AT86RF230 transceiver over SPI. The structure, and which accesses each operation makes, are those of
   Linux's driver of 2013 (at86rf230), which a report measured (published/atben_spi_drivers.toml); in the extended mode
   (APP_MODE_EXTENDED) those of a later one. */
#ifndef AT86RF230_H
#define AT86RF230_H

#include "completion.h"
#include "mutex.h"
#include "spi.h"
#include "workqueue.h"

#define AT86RF230_FRAME_BYTES 127u /* the longest frame, with its checksum */
#define AT86RF230_CHECKSUM_BYTES 2u

/* The board's data for the driver. */
struct at86rf230_platform_data {
    int slp_tr;                       /* pin SLP_TR, or -1 if it is not used */
    void (*reset)(void *reset_data);  /* to state P_ON, by whatever the board has for that */
    void *reset_data;
};

/* Accesses since the start, and how often an interrupt woke the driver's thread. */
struct at86rf230_counts {
    uint32_t register_reads;
    uint32_t register_writes;
    uint32_t buffer_reads;
    uint32_t buffer_writes;
    uint32_t wakeups;
};

struct at86rf230;

/* Gets a frame without its checksum, from the driver's thread. `bytes` is 0 for a frame that is nothing but a checksum,
 * or less: at86rf230.length. */
typedef void at86rf230_receive(struct at86rf230 *chip, const uint8_t *frame, uint8_t bytes, uint8_t lqi);

/* Points in the driver's work, for those who measure it. */
enum at86rf230_event {
    AT86RF230_IRQ_BEGINS, /* the driver's thread serves an interrupt */
    AT86RF230_IRQ_ENDS,
    AT86RF230_TX_WAITS, /* the transceiver sends: at86rf230_xmit waits for the end of the frame */
    AT86RF230_TX_DONE,
    AT86RF230_IRQ_RAISED, /* in the interrupt's handler: for apps that have a mode */
};

typedef void at86rf230_watch(struct at86rf230 *chip, enum at86rf230_event event);

struct at86rf230 {
    struct spi_device *spi;
    uint8_t part_number;
    uint8_t version_number;

    uint8_t buf[2];           /* of the message in hand */
    struct mutex buffer_lock; /* of buf */

    struct workqueue workqueue;
    struct work irq_work;
    struct completion tx_complete;
    struct spin_lock lock; /* of the two below */
    bool irq_busy;
    bool is_tx;

    at86rf230_receive *receive; /* or 0 */
    at86rf230_watch *watch;     /* or 0 */
    struct at86rf230_counts counts;
    uint8_t length;                           /* of the frame received last, with its checksum */
    uint8_t frame[AT86RF230_FRAME_BYTES + 1]; /* itself, with its LQI */
#if APP_MODE_EXTENDED
    uint8_t trac; /* TRAC_STATUS of the frame sent last; 0: the peer has it */
#endif
};

/* Makes the driver's part of a device, whose transceiver is left alone. ERROR_INVALID for a device without interrupt or
 * platform data. */
int at86rf230_attach(struct at86rf230 *chip, struct spi_device *spi);

/* By the board's function. After this it answers. */
void at86rf230_reset(struct at86rf230 *chip);

/* Of an attached device: resets the transceiver, looks whether it is one, sets it up and takes its interrupt. Errors
   are printed: ERROR_NO_RADIO if none answers, ERROR_RADIO_SUPPLY, ERROR_RADIO_STATE, those of pins, interrupts and
   SPI. */
int at86rf230_probe(struct at86rf230 *chip);

/* Receives from now on. ERROR_RADIO_STATE. */
int at86rf230_start(struct at86rf230 *chip);

/* Neither receives nor sends. ERROR_RADIO_STATE. */
int at86rf230_stop(struct at86rf230 *chip);

/* Extended mode: PAN and short address of what is received. */
int at86rf230_set_address(struct at86rf230 *chip, uint16_t pan, uint16_t address);

/* Channel 11 to 26. ERROR_INVALID. */
int at86rf230_channel(struct at86rf230 *chip, uint8_t channel);

/* Sends a frame of up to 125 bytes, to which the transceiver adds its checksum, and receives again. Sleeps until it is
   on the air. ERROR_RADIO_BUSY while an interrupt is served, ERROR_TOO_LONG, ERROR_RADIO_STATE. */
int at86rf230_xmit(struct at86rf230 *chip, const uint8_t *frame, uint8_t bytes);

/* Registers, as they are. */
int at86rf230_read_register(struct at86rf230 *chip, uint8_t address, uint8_t *value);
int at86rf230_write_register(struct at86rf230 *chip, uint8_t address, uint8_t value);

/* Writes the frame buffer: `length` for its first byte, then `bytes` of data. */
int at86rf230_write_buffer(struct at86rf230 *chip, uint8_t length, const uint8_t *data, uint8_t bytes);

/* Reads the frame buffer into data[AT86RF230_FRAME_BYTES + 1]: as many bytes as its length says, which `length` gets,
 * and the frame's LQI. */
int at86rf230_read_buffer(struct at86rf230 *chip, uint8_t *data, uint8_t *length, uint8_t *lqi);

#endif
