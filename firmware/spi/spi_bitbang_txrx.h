/* One word, bit by bit, the upper bit first. For a driver that has defined, before it includes this,
     static inline void setsck(const struct spi_device *spi, int level);
     static inline void setmosi(const struct spi_device *spi, int level);
     static inline int getmiso(const struct spi_device *spi);    0 or 1
     spidelay(nsecs)
   Which of them are calls and which are single instructions is the driver's affair. */
#ifndef SPI_BITBANG_TXRX_H
#define SPI_BITBANG_TXRX_H

#include "spi.h"

#define TOP_BIT 0x80000000u

/* Modes 0 and 2: data are there before the first edge, at which they are taken. */
static inline uint32_t bitbang_txrx_cpha0(struct spi_device *spi, unsigned nsecs, int cpol, unsigned flags, uint32_t word, uint8_t bits)
{
#pragma clang loop unroll(disable)
    for (word <<= 32 - bits; bits; bits--) {
        if (!(flags & SPI_MASTER_NO_TX)) {
            setmosi(spi, (word & TOP_BIT) != 0);
        }
        spidelay(nsecs);
        setsck(spi, !cpol);
        spidelay(nsecs);
        word <<= 1;
        if (!(flags & SPI_MASTER_NO_RX)) {
            word |= (uint32_t)getmiso(spi);
        }
        setsck(spi, cpol);
    }
    return word;
}

/* Modes 1 and 3: data change at the first edge and are taken at the second. */
static inline uint32_t bitbang_txrx_cpha1(struct spi_device *spi, unsigned nsecs, int cpol, unsigned flags, uint32_t word, uint8_t bits)
{
#pragma clang loop unroll(disable)
    for (word <<= 32 - bits; bits; bits--) {
        setsck(spi, !cpol);
        if (!(flags & SPI_MASTER_NO_TX)) {
            setmosi(spi, (word & TOP_BIT) != 0);
        }
        spidelay(nsecs);
        setsck(spi, cpol);
        spidelay(nsecs);
        word <<= 1;
        if (!(flags & SPI_MASTER_NO_RX)) {
            word |= (uint32_t)getmiso(spi);
        }
    }
    return word;
}

#undef TOP_BIT

#endif
