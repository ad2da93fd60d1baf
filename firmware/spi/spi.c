#include "spi.h"

#include "completion.h"
#include "console.h"
#include "error.h"
#include "spinlock.h"

#define DEFAULT_BITS_PER_WORD 8

void spi_master_init(struct spi_master *master, const char *name, void *data)
{
    master->device.name = name;
    device_set_data(&master->device, &master->device_private, data);
}

int spi_master_register(struct spi_master *master)
{
    if (!master->transfer || !master->chip_selects) {
        return ERROR_INVALID;
    }
    spin_lock_init(&master->bus_lock);
    mutex_init(&master->bus_mutex);
    return 0;
}

int spi_setup(struct spi_device *spi)
{
    uint16_t unsupported = (uint16_t)(spi->mode & ~spi->master->mode_bits);

    if (unsupported) {
        console_print("%s: mode bits 0x%02x are not for %s\n", spi->device.name, unsupported, spi->master->device.name);
        return ERROR_INVALID;
    }
    if (!spi->bits_per_word) {
        spi->bits_per_word = DEFAULT_BITS_PER_WORD;
    }
    return spi->master->setup ? spi->master->setup(spi) : 0;
}

int spi_device_add(struct spi_device *spi)
{
    if (spi->chip_select >= spi->master->chip_selects) {
        console_print("%s: %s has no chip select %u\n", spi->device.name, spi->master->device.name, spi->chip_select);
        return ERROR_INVALID;
    }
    return spi_setup(spi);
}

/* One data line, or only one of two: no transfer may need the missing one. */
static int check_directions(const struct spi_device *spi, struct spi_message *message)
{
    unsigned flags = spi->master->flags;

    list_for_each (element, &message->transfers) {
        const struct spi_transfer *transfer = container_of(element, struct spi_transfer, link);
        if (transfer->rx_buf && transfer->tx_buf) {
            return ERROR_INVALID;
        }
        if ((flags & SPI_MASTER_NO_TX && transfer->tx_buf) || (flags & SPI_MASTER_NO_RX && transfer->rx_buf)) {
            return ERROR_INVALID;
        }
    }
    return 0;
}

/* Values that a transfer leaves open are the device's; the master must support the result. */
static int complete_transfers(const struct spi_device *spi, struct spi_message *message)
{
    uint32_t bits_per_word_mask = spi->master->bits_per_word_mask;

    list_for_each (element, &message->transfers) {
        struct spi_transfer *transfer = container_of(element, struct spi_transfer, link);
        if (!transfer->bits_per_word) {
            transfer->bits_per_word = spi->bits_per_word;
        }
        if (!transfer->speed_hz) {
            transfer->speed_hz = spi->max_speed_hz;
        }
        if (transfer->bits_per_word > 32 || (transfer->len && !transfer->tx_buf && !transfer->rx_buf)) {
            return ERROR_INVALID;
        }
        if (bits_per_word_mask && !(bits_per_word_mask & 1u << (transfer->bits_per_word - 1))) {
            return ERROR_INVALID;
        }
    }
    return 0;
}

/* With interrupts off. */
static int submit(struct spi_device *spi, struct spi_message *message)
{
    struct spi_master *master = spi->master;
    int error = 0;

    if (list_empty(&message->transfers) || !message->complete) {
        return ERROR_INVALID;
    }
    if (master->flags & SPI_MASTER_HALF_DUPLEX || spi->mode & SPI_3WIRE) {
        error = check_directions(spi, message);
    }
    if (!error) {
        error = complete_transfers(spi, message);
    }
    if (error) {
        return error;
    }
    message->spi = spi;
    message->status = ERROR_IN_PROGRESS;
    return master->transfer(spi, message);
}

int spi_async(struct spi_device *spi, struct spi_message *message)
{
    uint32_t before = spin_lock_irqsave(&spi->master->bus_lock);
    int error = submit(spi, message);
    spin_unlock_irqrestore(&spi->master->bus_lock, before);
    return error;
}

static void wake_caller(void *context)
{
    complete(context);
}

int spi_sync(struct spi_device *spi, struct spi_message *message)
{
    struct completion done;
    struct spi_master *master = spi->master;

    completion_init(&done);
    message->complete = wake_caller;
    message->context = &done;

    mutex_lock(&master->bus_mutex);
    int error = spi_async(spi, message);
    mutex_unlock(&master->bus_mutex);

    if (!error) {
        wait_for_completion(&done);
        error = message->status;
    }
    message->context = NULL;
    return error;
}
