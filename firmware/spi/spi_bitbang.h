/* Masters that are driven word by word: a queue of messages and the thread that works it off, as in Linux's spi-bitbang
   (3.8). The driver has a function for the chip select, and for each mode one that sends and receives a word. */
#ifndef SPI_BITBANG_H
#define SPI_BITBANG_H

#include "spi.h"
#include "workqueue.h"

/* Sends the lowest `bits` of `word`, its upper bit first, and gives what came. `nsecs` is half a clock period, `flags`
   are SPI_MASTER_NO_RX and SPI_MASTER_NO_TX. */
typedef uint32_t spi_txrx_word(struct spi_device *spi, unsigned nsecs, unsigned flags, uint32_t word, uint8_t bits);

struct spi_bitbang {
    struct spi_master master; /* its data are this structure */
    struct spin_lock lock; /* of what follows */
    struct list_head queue;
    bool busy;

    struct work work;
    struct workqueue workqueue;

    /* The driver's. The chip select also brings the clock to its idle level. */
    void (*chipselect)(struct spi_device *spi, bool active);
    spi_txrx_word *txrx_word[4]; /* by mode */
};

/* Its state of a device, in spi_device.controller_state. */
struct spi_bitbang_device {
    unsigned nsecs; /* half a clock period */
    spi_txrx_word *txrx_word;
    unsigned (*txrx_bufs)(
        struct spi_device *spi, spi_txrx_word *txrx_word, unsigned nsecs, const struct spi_transfer *transfer);
};

/* Mode, word size and speed of a device, whose controller_state is there; deselects it. ERROR_INVALID. */
int spi_bitbang_setup(struct spi_device *spi);

/* Of its thread: above those that it works for. */
#define SPI_BITBANG_PRIORITY 16u

/* Starts the thread with the driver's stack, and registers the master. ERROR_INVALID without chipselect. */
int spi_bitbang_start(struct spi_bitbang *bitbang, void *stack, uint32_t stack_bytes);

#endif
