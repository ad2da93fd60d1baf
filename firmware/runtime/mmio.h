/* Access to 32-bit device registers. */
#ifndef MMIO_H
#define MMIO_H

#include <stdint.h>

/* Never calls, so that code may use them before the memory that the rest is in can be read. */
#define MMIO_INLINE static inline __attribute__((always_inline))

MMIO_INLINE uint32_t mmio_read(uintptr_t base, uint32_t offset)
{
    return *(const volatile uint32_t *)(base + offset);
}

MMIO_INLINE void mmio_write(uintptr_t base, uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(base + offset) = value;
}

#endif
