/* SPI: masters, devices, messages. A message is a list of transfers during which the device stays selected. The
   structure is that of Linux's SPI core (3.8): a master gets whole messages, and may carry them out at once or put them
   in a queue. */
#ifndef SPI_H
#define SPI_H

#include "device.h"
#include "list.h"
#include "mutex.h"
#include "spinlock.h"

#include <stdbool.h>
#include <stdint.h>

/* spi_device.mode, spi_master.mode_bits */
#define SPI_CPHA 0x01u /* data are taken at the clock's second edge */
#define SPI_CPOL 0x02u /* the clock idles high */
#define SPI_MODE_0 0u
#define SPI_MODE_1 SPI_CPHA
#define SPI_MODE_2 SPI_CPOL
#define SPI_MODE_3 (SPI_CPOL | SPI_CPHA)
#define SPI_CS_HIGH 0x04u   /* selected by a high level */
#define SPI_LSB_FIRST 0x08u /* the lowest bit of a word comes first */
#define SPI_3WIRE 0x10u     /* one line for data of both directions */

/* spi_master.flags */
#define SPI_MASTER_HALF_DUPLEX 0x1u /* one direction at a time */
#define SPI_MASTER_NO_RX 0x2u       /* no MISO */
#define SPI_MASTER_NO_TX 0x4u       /* no MOSI */

struct spi_device;
struct spi_message;

struct spi_master {
    struct device device;
    struct device_private device_private;
    uint16_t chip_selects;
    uint16_t mode_bits;          /* which bits of spi_device.mode it can serve */
    uint16_t flags;
    uint32_t bits_per_word_mask; /* bit n - 1: it can send words of n bits; 0: it says nothing about that */

    /* Clock, mode and pins for a device, before its first message. */
    int (*setup)(struct spi_device *spi);
    /* Carries a message out, or puts it in a queue; message->complete is called when it is done, perhaps before this
       returns. Called with interrupts off, one at a time. Must not wait for anything but the wire. */
    int (*transfer)(struct spi_device *spi, struct spi_message *message);

    struct spin_lock bus_lock; /* of transfer */
    struct mutex bus_mutex;    /* of spi_sync */
};

struct spi_device {
    struct device device;
    struct spi_master *master;
    uint32_t max_speed_hz;
    uint32_t sck_hz;       /* what setup has made of that; 0 if the master does not know it */
    uint8_t chip_select;
    uint8_t bits_per_word; /* 0: 8 */
    uint16_t mode;
    bool word_gap; /* it needs a pause between words: a controller's FIFO must not send them one after the other */
    int irq;               /* irq.h */
    int chip_select_gpio;  /* for masters that have no line of their own; -1 if none */
    void *controller_state;
};

struct spi_transfer {
    const void *tx_buf; /* 0: nothing to send, MOSI is of no importance */
    void *rx_buf;       /* 0: what comes is dropped; may be tx_buf */
    unsigned len;       /* bytes */

    bool cs_change;        /* deselect after it; after the last one: stay selected */
    uint8_t bits_per_word; /* 0: the device's */
    uint16_t delay_us;     /* after it, before what follows */
    uint32_t speed_hz;     /* 0: the device's */
    struct list_head link; /* in the message */
};

struct spi_message {
    struct list_head transfers;
    struct spi_device *spi;
    void (*complete)(void *context); /* called when it is done or has failed */
    void *context;
    unsigned actual_length; /* bytes of the transfers that were done */
    int status;             /* 0, or the error that ended it */
    struct list_head queue; /* the master's */
};

/* Gives a master its name and its driver's own data, which spi_master_data finds. */
void spi_master_init(struct spi_master *master, const char *name, void *data);

/* Checks a master's functions. ERROR_INVALID. */
int spi_master_register(struct spi_master *master);

/* Adds a device to its master and sets it up. ERROR_INVALID for a chip select or a mode that the master does not have,
   or the master's error. */
int spi_device_add(struct spi_device *spi);

/* After a change of mode, speed or bits per word. */
int spi_setup(struct spi_device *spi);

static inline void spi_message_init(struct spi_message *message)
{
    *message = (struct spi_message){0};
    list_init(&message->transfers);
}

static inline void spi_message_add_tail(struct spi_transfer *transfer, struct spi_message *message)
{
    list_add_tail(&transfer->link, &message->transfers);
}

static inline void *spi_master_data(const struct spi_master *master)
{
    return device_data(&master->device);
}

/* Hands a message to the device's master; does not wait. ERROR_INVALID if the message cannot be one for this device. */
int spi_async(struct spi_device *spi, struct spi_message *message);

/* Hands a message over and sleeps until it is done. Its status, or ERROR_INVALID as above. */
int spi_sync(struct spi_device *spi, struct spi_message *message);

#endif
