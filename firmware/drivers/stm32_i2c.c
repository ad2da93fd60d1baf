#include "stm32_i2c.h"

#include "error.h"
#include "mmio.h"

#define I2C_CR1 0x00u
#define I2C_CR2 0x04u
#define I2C_TIMINGR 0x10u
#define I2C_ISR 0x18u
#define I2C_ICR 0x1Cu
#define I2C_RXDR 0x24u
#define I2C_TXDR 0x28u

#define I2C_CR1_PE (1u << 0)
#define I2C_CR2_RD_WRN (1u << 10)
#define I2C_CR2_START (1u << 13)
#define I2C_CR2_AUTOEND (1u << 25)
#define I2C_CR2_SADD(address) ((uint32_t)(address) << 1)
#define I2C_CR2_NBYTES(bytes) ((uint32_t)(bytes) << 16)

#define I2C_ISR_TXE (1u << 0)
#define I2C_ISR_TXIS (1u << 1)
#define I2C_ISR_RXNE (1u << 2)
#define I2C_ISR_NACKF (1u << 4)
#define I2C_ISR_STOPF (1u << 5)
#define I2C_ISR_TC (1u << 6)
#define I2C_ICR_NACKCF (1u << 4)
#define I2C_ICR_STOPCF (1u << 5)

#define I2C_MOST_BYTES 255u
/* Some tens of milliseconds: a chip may stretch the clock. */
#define I2C_LIMIT_READS 1000000u

void stm32_i2c_start(uintptr_t base, uint32_t timing)
{
    mmio_write(base, I2C_CR1, 0);
    mmio_write(base, I2C_TIMINGR, timing);
    mmio_write(base, I2C_CR1, I2C_CR1_PE);
}

/* The flags, once one of them is set, or none in time. */
static uint32_t wait_for(uintptr_t base, uint32_t flags)
{
    for (uint32_t reads = 0; reads < I2C_LIMIT_READS; reads++) {
        uint32_t set = mmio_read(base, I2C_ISR) & flags;
        if (set) {
            return set;
        }
    }
    return 0;
}

/* The interface sends a STOP by itself after a byte without an acknowledge. A byte that waits must not begin the next
 * frame. */
static int give_up(uintptr_t base, uint32_t set)
{
    if (!set) {
        mmio_write(base, I2C_CR1, 0);
        mmio_read(base, I2C_CR1);
        mmio_write(base, I2C_CR1, I2C_CR1_PE);
        return ERROR_TIMEOUT;
    }
    wait_for(base, I2C_ISR_STOPF);
    mmio_write(base, I2C_ISR, I2C_ISR_TXE);
    mmio_write(base, I2C_ICR, I2C_ICR_NACKCF | I2C_ICR_STOPCF);
    return ERROR_I2C_NACK;
}

static int end(uintptr_t base)
{
    uint32_t set = wait_for(base, I2C_ISR_STOPF);
    if (!set || mmio_read(base, I2C_ISR) & I2C_ISR_NACKF) {
        return give_up(base, set);
    }
    mmio_write(base, I2C_ICR, I2C_ICR_STOPCF);
    return 0;
}

/* Writes bytes; what follows is a STOP, or, without AUTOEND, a repeated START. */
static int write_bytes(uintptr_t base, uint8_t address, const uint8_t *out, size_t count, uint32_t autoend)
{
    size_t next = 0;

    /* The first byte waits in TXDR, so that it follows the address without a gap. */
    if (count > 0) {
        mmio_write(base, I2C_TXDR, out[next++]);
    }
    mmio_write(base, I2C_CR2, I2C_CR2_SADD(address) | I2C_CR2_NBYTES(count) | I2C_CR2_START | autoend);
    while (next < count) {
        uint32_t set = wait_for(base, I2C_ISR_TXIS | I2C_ISR_NACKF);
        if (set != I2C_ISR_TXIS) {
            return give_up(base, set);
        }
        mmio_write(base, I2C_TXDR, out[next++]);
    }
    if (autoend) {
        return end(base);
    }
    uint32_t set = wait_for(base, I2C_ISR_TC | I2C_ISR_NACKF);
    return set == I2C_ISR_TC ? 0 : give_up(base, set);
}

static int read_bytes(uintptr_t base, uint8_t address, uint8_t *in, size_t count)
{
    mmio_write(base, I2C_CR2,
        I2C_CR2_SADD(address) | I2C_CR2_NBYTES(count) | I2C_CR2_RD_WRN | I2C_CR2_AUTOEND | I2C_CR2_START);
    for (size_t next = 0; next < count; next++) {
        uint32_t set = wait_for(base, I2C_ISR_RXNE | I2C_ISR_NACKF);
        if (set != I2C_ISR_RXNE) {
            return give_up(base, set);
        }
        in[next] = (uint8_t)mmio_read(base, I2C_RXDR);
    }
    return end(base);
}

int stm32_i2c_transfer(uintptr_t base, uint8_t address, const uint8_t *out, size_t written, uint8_t *in, size_t read)
{
    if (written > I2C_MOST_BYTES || read > I2C_MOST_BYTES) {
        return ERROR_TOO_LONG;
    }
    if (written > 0 || read == 0) {
        int error = write_bytes(base, address, out, written, read == 0 ? I2C_CR2_AUTOEND : 0);
        if (error || read == 0) {
            return error;
        }
    }
    return read_bytes(base, address, in, read);
}
