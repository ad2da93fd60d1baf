/* One word over a driver's pins, its upper bit first. The driver defines, before it includes this,
     static inline void put_clock(const struct spi_device *spi, int level);
     static inline void put_mosi(const struct spi_device *spi, int level);
     static inline int take_miso(const struct spi_device *spi);    0 or 1
     half_period(nsecs)
   Which of them are calls and which are single instructions is its own affair. Structure: Linux 3.8, spi-bitbang's
   words of either phase. */
#ifndef SPI_BITBANG_TXRX_H
#define SPI_BITBANG_TXRX_H

#include "spi.h"

#define WORD_BITS 32u

/* Modes 0 and 2: MOSI is there before the clock leaves its idle level, MISO is taken when it has. What is still to be
   sent leaves `word` at its upper end, what came enters at the lower one. */
static inline uint32_t bitbang_first_edge(
    struct spi_device *spi, unsigned nsecs, int idle, unsigned flags, uint32_t word, uint8_t bits)
{
    word <<= WORD_BITS - bits;
#pragma clang loop unroll(disable)
    for (; bits; bits--) {
        if (!(flags & SPI_MASTER_NO_TX)) {
            put_mosi(spi, (int)(word >> (WORD_BITS - 1)));
        }
        half_period(nsecs);
        put_clock(spi, !idle);
        half_period(nsecs);
        word <<= 1;
        word |= flags & SPI_MASTER_NO_RX ? 0 : (uint32_t)take_miso(spi);
        put_clock(spi, idle);
    }
    return word;
}

/* Modes 1 and 3: MOSI changes when the clock leaves its idle level, MISO is taken when it is back. */
static inline uint32_t bitbang_second_edge(
    struct spi_device *spi, unsigned nsecs, int idle, unsigned flags, uint32_t word, uint8_t bits)
{
    word <<= WORD_BITS - bits;
#pragma clang loop unroll(disable)
    for (; bits; bits--) {
        put_clock(spi, !idle);
        if (!(flags & SPI_MASTER_NO_TX)) {
            put_mosi(spi, (int)(word >> (WORD_BITS - 1)));
        }
        half_period(nsecs);
        put_clock(spi, idle);
        half_period(nsecs);
        word <<= 1;
        word |= flags & SPI_MASTER_NO_RX ? 0 : (uint32_t)take_miso(spi);
    }
    return word;
}

#undef WORD_BITS

#endif
