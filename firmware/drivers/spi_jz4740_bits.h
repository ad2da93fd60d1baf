/* Bytes over three pins of one JZ4740 port: SPI mode 0, highest bit first. Users have these functions in line: pins
   that they know are constants of their code. The port's address is loaded from memory for each access, as the
   published drivers do: in a kernel built with -fno-strict-aliasing a store to a register may have changed it. */
#ifndef SPI_JZ4740_BITS_H
#define SPI_JZ4740_BITS_H

#include "jz4740_gpio.h"
#include "spi.h"

struct spi_lines {
    const uintptr_t *base; /* where a driver keeps the port's address */
    uint32_t mosi, miso, sck;
};

#define SPI_IN_LINE static inline __attribute__((always_inline))

SPI_IN_LINE void spi_raise(struct spi_lines lines, uint32_t pins)
{
    mmio_write(*lines.base, GPIO_DATS, pins);
}

SPI_IN_LINE void spi_lower(struct spi_lines lines, uint32_t pins)
{
    mmio_write(*lines.base, GPIO_DATC, pins);
}

/* A pulse of the clock; `byte`, with `bit` in it if MISO is high meanwhile. */
SPI_IN_LINE uint32_t spi_pulse(struct spi_lines lines, uint32_t byte, uint32_t bit)
{
    spi_raise(lines, lines.sck);
    if (mmio_read(*lines.base, GPIO_PIN) & lines.miso) {
        byte |= bit;
    }
    spi_lower(lines, lines.sck);
    return byte;
}

SPI_IN_LINE void spi_receive_bytes(struct spi_lines lines, uint8_t *to, unsigned bytes)
{
    for (; bytes; bytes--) {
        uint32_t byte = spi_pulse(lines, 0, 0x80);
        byte = spi_pulse(lines, byte, 0x40);
        byte = spi_pulse(lines, byte, 0x20);
        byte = spi_pulse(lines, byte, 0x10);
        byte = spi_pulse(lines, byte, 0x08);
        byte = spi_pulse(lines, byte, 0x04);
        byte = spi_pulse(lines, byte, 0x02);
        *to++ = (uint8_t)spi_pulse(lines, byte, 0x01);
    }
}

/* The clock's pulse for bit `bit`, then MOSI for the next one: separate code for each level that MOSI has, so
   that no level is written that is already there. A fall of MOSI goes with the clock's. */
#define SPI_SEND_BIT(bit, next)                   \
    one_##bit:                                    \
    spi_raise(lines, lines.sck);                  \
    if (!(byte & 1u << (next))) {                 \
        spi_lower(lines, lines.mosi | lines.sck); \
        goto zero_##next;                         \
    }                                             \
    spi_lower(lines, lines.sck);                  \
    goto one_##next;                              \
    zero_##bit:                                   \
    spi_raise(lines, lines.sck);                  \
    spi_lower(lines, lines.sck);                  \
    if (!(byte & 1u << (next))) {                 \
        goto zero_##next;                         \
    }                                             \
    spi_raise(lines, lines.mosi);                 \
    goto one_##next;

SPI_IN_LINE void spi_send_bytes(struct spi_lines lines, const uint8_t *from, unsigned bytes)
{
    for (; bytes; bytes--) {
        uint32_t byte = *from++;
        if (!(byte & 0x80)) {
            spi_lower(lines, lines.mosi);
            goto zero_7;
        }
        spi_raise(lines, lines.mosi);
        goto one_7;
        SPI_SEND_BIT(7, 6)
        SPI_SEND_BIT(6, 5)
        SPI_SEND_BIT(5, 4)
        SPI_SEND_BIT(4, 3)
        SPI_SEND_BIT(3, 2)
        SPI_SEND_BIT(2, 1)
        SPI_SEND_BIT(1, 0)
    one_0:
    zero_0:
        spi_raise(lines, lines.sck);
        spi_lower(lines, lines.sck);
        spi_lower(lines, lines.sck); /* low already: else the next byte comes before 250 ns (AT86RF231, t5) */
    }
}

#undef SPI_SEND_BIT

/* Both ways, for a few bytes at a time: short rather than fast. */
SPI_IN_LINE void spi_exchange_bytes(struct spi_lines lines, const uint8_t *from, uint8_t *to, unsigned bytes)
{
    for (; bytes; bytes--) {
        uint32_t out = *from++;
        uint32_t in = 0;
#pragma clang loop unroll(disable)
        for (uint32_t bit = 0x80; bit; bit >>= 1) {
            if (out & bit) {
                spi_raise(lines, lines.mosi);
            } else {
                spi_lower(lines, lines.mosi);
            }
            in = spi_pulse(lines, in, bit);
        }
        *to++ = (uint8_t)in;
    }
}

/* All transfers of a message, to the device that is selected. Adds up what is done in actual_length. */
SPI_IN_LINE void spi_transfer_bytes(const struct spi_lines *lines, struct spi_message *message)
{
    list_for_each (element, &message->transfers) {
        const struct spi_transfer *transfer = container_of(element, struct spi_transfer, link);

        message->actual_length += transfer->len;
        if (transfer->tx_buf && transfer->rx_buf) {
            spi_exchange_bytes(*lines, transfer->tx_buf, transfer->rx_buf, transfer->len);
        } else if (transfer->tx_buf) {
            spi_send_bytes(*lines, transfer->tx_buf, transfer->len);
        } else {
            spi_receive_bytes(*lines, transfer->rx_buf, transfer->len);
        }
    }
}

#endif
