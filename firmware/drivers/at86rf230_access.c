#include "at86rf230_internal.h"

#include "at86rf230_registers.h"

/* Sends one or two transfers as one message. */
static int send_message(struct at86rf230 *chip, struct spi_transfer *first, struct spi_transfer *second)
{
    struct spi_message message;

    spi_message_init(&message);
    spi_message_add_tail(first, &message);
    if (second) {
        spi_message_add_tail(second, &message);
    }
    return spi_sync(chip->spi, &message);
}

/* With the buffer's lock. */
static int read_locked(struct at86rf230 *chip, uint8_t address, uint8_t *value)
{
    struct spi_transfer transfer = {.len = 2, .tx_buf = chip->buf, .rx_buf = chip->buf};

    chip->buf[0] = COMMAND_REGISTER | (address & COMMAND_REGISTER_ADDRESS);
    chip->buf[1] = 0xFF;
    chip->counts.register_reads++;
    int error = send_message(chip, &transfer, NULL);
    if (!error) {
        *value = chip->buf[1];
    }
    return error;
}

static int write_locked(struct at86rf230 *chip, uint8_t address, uint8_t value)
{
    struct spi_transfer transfer = {.len = 2, .tx_buf = chip->buf};

    chip->buf[0] = COMMAND_REGISTER | COMMAND_WRITE | (address & COMMAND_REGISTER_ADDRESS);
    chip->buf[1] = value;
    chip->counts.register_writes++;
    return send_message(chip, &transfer, NULL);
}

int at86rf230_read_register(struct at86rf230 *chip, uint8_t address, uint8_t *value)
{
    mutex_lock(&chip->buffer_lock);
    int error = read_locked(chip, address, value);
    mutex_unlock(&chip->buffer_lock);
    return error;
}

int at86rf230_write_register(struct at86rf230 *chip, uint8_t address, uint8_t value)
{
    mutex_lock(&chip->buffer_lock);
    int error = write_locked(chip, address, value);
    mutex_unlock(&chip->buffer_lock);
    return error;
}

int at86rf230_read_field(struct at86rf230 *chip, uint8_t address, uint8_t mask, unsigned shift, uint8_t *value)
{
    int error = at86rf230_read_register(chip, address, value);

    if (!error) {
        *value = (uint8_t)((*value & mask) >> shift);
    }
    return error;
}

int at86rf230_write_field(struct at86rf230 *chip, uint8_t address, uint8_t mask, unsigned shift, uint8_t value)
{
    uint8_t before;

    mutex_lock(&chip->buffer_lock);
    int error = read_locked(chip, address, &before);
    if (!error) {
        error = write_locked(chip, address, (uint8_t)((before & ~mask) | (value << shift & mask)));
    }
    mutex_unlock(&chip->buffer_lock);
    return error;
}

int at86rf230_write_buffer(struct at86rf230 *chip, uint8_t length, const uint8_t *data, uint8_t bytes)
{
    struct spi_transfer head = {.len = 2, .tx_buf = chip->buf};
    struct spi_transfer body = {.len = bytes, .tx_buf = data};

    mutex_lock(&chip->buffer_lock);
    chip->buf[0] = COMMAND_FRAME_BUFFER | COMMAND_WRITE;
    chip->buf[1] = length;
    chip->counts.buffer_writes++;
    int error = send_message(chip, &head, &body);
    mutex_unlock(&chip->buffer_lock);
    return error;
}

/* How long the frame is has to be known before it is read: one message for the length alone, and all over again. */
int at86rf230_read_buffer(struct at86rf230 *chip, uint8_t *data, uint8_t *length, uint8_t *lqi)
{
    struct spi_transfer head = {.len = 2, .tx_buf = chip->buf, .rx_buf = chip->buf};
    struct spi_transfer body = {.rx_buf = data};

    mutex_lock(&chip->buffer_lock);
    chip->buf[0] = COMMAND_FRAME_BUFFER;
    chip->buf[1] = 0;
    chip->counts.buffer_reads++;
    int error = send_message(chip, &head, NULL);
    if (!error) {
        *length = chip->buf[1] & AT86RF230_FRAME_BYTES;
        body.len = *length + 1u;
        chip->buf[0] = COMMAND_FRAME_BUFFER;
        chip->buf[1] = 0;
        error = send_message(chip, &head, &body);
        *lqi = data[*length];
    }
    mutex_unlock(&chip->buffer_lock);
    return error;
}
