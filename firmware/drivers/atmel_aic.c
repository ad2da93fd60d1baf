#include "atmel_aic.h"

#include "board.h"
#include "mmio.h"
#include "unoptimised.h"

#define AIC_SSR 0x00u
#define AIC_SMR 0x04u
#define AIC_SVR 0x08u
#define AIC_SPU 0x3Cu
#define AIC_IECR 0x40u
#define AIC_IDCR 0x44u
#define AIC_ICCR 0x48u
#define AIC_ISCR 0x4Cu

/* A source's own: high level or positive edge. */
#define SMR_INT_LEVEL (0u << 5)
#define SMR_INT_EDGE (1u << 5)

#define AIC_SOURCES 77u
#define AIC_PRIORITIES 8u

#define SFR_SN1 0x50u
#define SFR_AICREDIR 0x54u
#define AICREDIR_KEY 0xB6D81C4Du
#define AICREDIR_NSAIC (1u << 0)

/* Sources of secure peripherals are at the secure controller unless they are redirected. */
static uintptr_t controller(void)
{
    return mmio_read(BOARD_SFR_BASE, SFR_AICREDIR) & AICREDIR_NSAIC ? BOARD_AIC_BASE : BOARD_SAIC_BASE;
}

static void select_source(uintptr_t base, uint32_t source)
{
    mmio_write(base, AIC_SSR, source);
}

static void ignore(void)
{
}

void aic_start(void)
{
    mmio_write(BOARD_SFR_BASE, SFR_AICREDIR, (AICREDIR_KEY ^ mmio_read(BOARD_SFR_BASE, SFR_SN1)) | AICREDIR_NSAIC);
    for (uint32_t source = 0; source < AIC_SOURCES; source++) {
        select_source(BOARD_AIC_BASE, source);
        mmio_write(BOARD_AIC_BASE, AIC_IDCR, 1);
        mmio_write(BOARD_AIC_BASE, AIC_ICCR, 1);
    }
    mmio_write(BOARD_AIC_BASE, AIC_SPU, (uint32_t)ignore);
    /* Interrupts that an earlier program did not finish. */
    for (uint32_t priority = 0; priority < AIC_PRIORITIES; priority++) {
        mmio_write(BOARD_AIC_BASE, AIC_EOICR, 0);
    }
}

void aic_enable(uint32_t source, uint32_t priority, enum aic_trigger trigger, aic_handler *handler)
{
    uintptr_t base = controller();

    select_source(base, source);
    mmio_write(base, AIC_IDCR, 1);
    mmio_write(base, AIC_SMR, (trigger == AIC_EDGE ? SMR_INT_EDGE : SMR_INT_LEVEL) | priority);
    mmio_write(base, AIC_SVR, (uint32_t)handler);
    mmio_write(base, AIC_ICCR, 1);
    mmio_write(base, AIC_IECR, 1);
}

void aic_set_pending(uint32_t source)
{
    uintptr_t base = controller();

    select_source(base, source);
    mmio_write(base, AIC_ISCR, 1);
}
