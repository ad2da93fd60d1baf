#include "stm32_hsem.h"

#include "board.h"
#include "mmio.h"
#include "stm32_rcc.h"

#define HSEM_R(semaphore) (0x00u + 4 * (semaphore))
#define HSEM_RLR(semaphore) (0x80u + 4 * (semaphore))

#define R_LOCK (1u << 31)
#define R_COREID (BOARD_HSEM_CORE << 8)

void hsem_start(void)
{
    rcc_enable(RCC_CLOCK_HSEM);
}

bool hsem_take(uint32_t semaphore)
{
    /* The read itself takes it, if it is free. */
    bool taken = mmio_read(BOARD_HSEM_BASE, HSEM_RLR(semaphore)) == (R_LOCK | R_COREID);

    __asm__ volatile("dmb" : : : "memory");
    return taken;
}

void hsem_release(uint32_t semaphore)
{
    __asm__ volatile("dmb" : : : "memory");
    mmio_write(BOARD_HSEM_BASE, HSEM_R(semaphore), R_COREID);
}
