/* Locks against interrupts and against other threads: on one core, no other code runs while interrupts are disabled. */
#ifndef SPINLOCK_H
#define SPINLOCK_H

#include "mips.h"

#include <stdint.h>

/* Keeps interrupts out; gives the state before, for irq_restore. May be nested. */
static inline uint32_t irq_save(void)
{
    uint32_t status = mips_read_status();

    mips_write_status(status & ~MIPS_STATUS_IE);
    return status & MIPS_STATUS_IE;
}

/* Brings back the state that irq_save has found. */
static inline void irq_restore(uint32_t before)
{
    mips_write_status((mips_read_status() & ~MIPS_STATUS_IE) | before);
}

/* Names the protected data; there is no other core to wait for. */
struct spin_lock {
    char nothing;
};

static inline void spin_lock_init(struct spin_lock *lock)
{
    lock->nothing = 0;
}

/* Takes the lock, which must not be held; may be used by threads and by interrupt handlers. */
static inline uint32_t spin_lock_irqsave(struct spin_lock *lock)
{
    (void)lock;
    return irq_save();
}

static inline void spin_unlock_irqrestore(struct spin_lock *lock, uint32_t before)
{
    (void)lock;
    irq_restore(before);
}

#endif
