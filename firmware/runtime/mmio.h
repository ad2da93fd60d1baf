/* Access to 32-bit device registers. */
#ifndef MMIO_H
#define MMIO_H

#include <stdint.h>

static inline uint32_t mmio_read(uintptr_t base, uint32_t offset)
{
    return *(const volatile uint32_t *)(base + offset);
}

static inline void mmio_write(uintptr_t base, uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(base + offset) = value;
}

#endif
