#include "spi_bitbang.h"

#include "delay.h"
#include "error.h"

/* Half a period of the slowest clock: udelay's range. */
#define NSECS_MAX 5000000u

/* Around changes of the chip select. */
#define CHIPSELECT_NSECS 100u

/* Before a message's first transfer the word size and speed are set; after that only for transfers that bring their
 * own. */
enum setup { SETUP_DONE, SETUP_FIRST, SETUP_EACH };

#define TXRX_BUFS(name, type)                                                                                        \
    static unsigned name(struct spi_device *spi, spi_txrx_word *txrx_word, unsigned nsecs,                           \
                         const struct spi_transfer *transfer)                                                        \
    {                                                                                                                \
        const type *tx = transfer->tx_buf;                                                                           \
        type *rx = transfer->rx_buf;                                                                                 \
        unsigned left = transfer->len;                                                                               \
        unsigned flags = (tx ? 0 : SPI_MASTER_NO_TX) | (rx ? 0 : SPI_MASTER_NO_RX);                                  \
                                                                                                                     \
        for (; left >= sizeof(type); left -= (unsigned)sizeof(type)) {                                               \
            uint32_t word = tx ? *tx++ : 0;                                                                          \
            word = txrx_word(spi, nsecs, flags, word, transfer->bits_per_word);                                      \
            if (rx) {                                                                                                \
                *rx++ = (type)word;                                                                                  \
            }                                                                                                        \
        }                                                                                                            \
        return transfer->len - left;                                                                                 \
    }

TXRX_BUFS(txrx_bytes, uint8_t)
TXRX_BUFS(txrx_halfwords, uint16_t)
TXRX_BUFS(txrx_words, uint32_t)

static int setup_transfer(struct spi_device *spi, const struct spi_transfer *transfer)
{
    struct spi_bitbang_device *state = spi->controller_state;
    unsigned bits_per_word = transfer && transfer->bits_per_word ? transfer->bits_per_word : spi->bits_per_word;
    uint32_t hz = transfer && transfer->speed_hz ? transfer->speed_hz : spi->max_speed_hz;

    if (bits_per_word > 32) {
        return ERROR_INVALID;
    }
    state->txrx_bufs = bits_per_word <= 8 ? txrx_bytes : bits_per_word <= 16 ? txrx_halfwords : txrx_words;
    if (hz) {
        state->nsecs = 1000000000u / 2 / hz;
        if (state->nsecs > NSECS_MAX) {
            return ERROR_INVALID;
        }
    }
    return 0;
}

int spi_bitbang_setup(struct spi_device *spi)
{
    struct spi_bitbang *bitbang = spi_master_data(spi->master);
    struct spi_bitbang_device *state = spi->controller_state;

    state->txrx_word = bitbang->txrx_word[spi->mode & (SPI_CPOL | SPI_CPHA)];
    if (!state->txrx_word) {
        return ERROR_INVALID;
    }
    int error = setup_transfer(spi, NULL);
    if (error) {
        return error;
    }
    uint32_t before = spin_lock_irqsave(&bitbang->lock);
    if (!bitbang->busy) {
        bitbang->chipselect(spi, false);
        ndelay(state->nsecs);
    }
    spin_unlock_irqrestore(&bitbang->lock, before);
    return 0;
}

/* Returns the number of transferred bytes. */
static unsigned txrx(struct spi_device *spi, const struct spi_transfer *transfer)
{
    struct spi_bitbang_device *state = spi->controller_state;

    return state->txrx_bufs(spi, state->txrx_word, state->nsecs, transfer);
}

static int run_transfer(struct spi_bitbang *bitbang, struct spi_message *message, const struct spi_transfer *transfer,
                        enum setup *setup, bool *cs_change)
{
    struct spi_device *spi = message->spi;

    if (transfer->speed_hz || transfer->bits_per_word) {
        *setup = SETUP_EACH;
    }
    if (*setup != SETUP_DONE) {
        int error = setup_transfer(spi, transfer);
        if (error) {
            return error;
        }
        if (*setup == SETUP_FIRST) {
            *setup = SETUP_DONE;
        }
    }
    if (*cs_change) {
        bitbang->chipselect(spi, true);
        ndelay(CHIPSELECT_NSECS);
    }
    *cs_change = transfer->cs_change;

    unsigned done = transfer->len ? txrx(spi, transfer) : 0;
    message->actual_length += done;
    if (done != transfer->len) {
        return ERROR_INVALID; /* not a whole number of words */
    }
    if (transfer->delay_us) {
        udelay(transfer->delay_us);
    }
    if (*cs_change && transfer->link.next != &message->transfers) {
        ndelay(CHIPSELECT_NSECS);
        bitbang->chipselect(spi, false);
        ndelay(CHIPSELECT_NSECS);
    }
    return 0;
}

static void run_message(struct spi_bitbang *bitbang, struct spi_message *message)
{
    struct spi_device *spi = message->spi;
    enum setup setup = SETUP_FIRST;
    bool cs_change = true;
    int status = 0;

    list_for_each (element, &message->transfers) {
        status = run_transfer(bitbang, message, container_of(element, struct spi_transfer, link), &setup, &cs_change);
        if (status) {
            break;
        }
    }
    message->status = status;
    message->complete(message->context);
    /* From here on the message may be gone. A last transfer's cs_change asks for the device to stay selected. */
    if (status || !cs_change) {
        ndelay(CHIPSELECT_NSECS);
        bitbang->chipselect(spi, false);
        ndelay(CHIPSELECT_NSECS);
    }
}

static void run_queue(struct work *work)
{
    struct spi_bitbang *bitbang = container_of(work, struct spi_bitbang, work);
    uint32_t before = spin_lock_irqsave(&bitbang->lock);

    bitbang->busy = true;
    while (!list_empty(&bitbang->queue)) {
        struct spi_message *message = list_first_entry(&bitbang->queue, struct spi_message, queue);
        list_del_init(&message->queue);
        spin_unlock_irqrestore(&bitbang->lock, before);
        run_message(bitbang, message);
        before = spin_lock_irqsave(&bitbang->lock);
    }
    bitbang->busy = false;
    spin_unlock_irqrestore(&bitbang->lock, before);
}

static int enqueue(struct spi_device *spi, struct spi_message *message)
{
    struct spi_bitbang *bitbang = spi_master_data(spi->master);
    int error = 0;

    message->actual_length = 0;
    message->status = ERROR_IN_PROGRESS;

    uint32_t before = spin_lock_irqsave(&bitbang->lock);
    if (!spi->max_speed_hz) {
        error = ERROR_INVALID;
    } else {
        list_add_tail(&message->queue, &bitbang->queue);
        queue_work(&bitbang->workqueue, &bitbang->work);
    }
    spin_unlock_irqrestore(&bitbang->lock, before);
    return error;
}

int spi_bitbang_start(struct spi_bitbang *bitbang, void *stack, uint32_t stack_bytes)
{
    struct spi_master *master = &bitbang->master;

    if (!bitbang->chipselect) {
        return ERROR_INVALID;
    }
    spin_lock_init(&bitbang->lock);
    list_init(&bitbang->queue);
    work_init(&bitbang->work, run_queue);
    if (!master->mode_bits) {
        master->mode_bits = SPI_CPOL | SPI_CPHA;
    }
    if (!master->setup) {
        master->setup = spi_bitbang_setup;
    }
    master->transfer = enqueue;
    workqueue_init(&bitbang->workqueue, master->device.name, stack, stack_bytes, SPI_BITBANG_PRIORITY);
    return spi_master_register(master);
}
