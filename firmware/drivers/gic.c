#include "gic.h"

#include "abort.h"
#include "arm.h"
#include "board.h"
#include "console.h"
#include "exit.h"
#include "mmio.h"

#define GICD_CTLR 0x000u
#define GICD_ISENABLER 0x100u
#define GICD_ICENABLER 0x180u
#define GICD_ICPENDR 0x280u
#define GICD_IPRIORITYR 0x400u
#define GICD_ITARGETSR 0x800u

#define GICC_CTLR 0x000u
#define GICC_PMR 0x004u
#define GICC_IAR 0x00Cu
#define GICC_EOIR 0x010u

#define CTLR_ENABLE_GROUP_0 (1u << 0)
#define IAR_INTERRUPT 0x3FFu
#define IAR_SPURIOUS 1023u

/* Four interrupts a word: the middle of the priorities that all implementations have; CPU interface 0. */
#define PRIORITY_OF_FOUR 0xA0A0A0A0u
#define TARGET_OF_FOUR 0x01010101u
#define PRIORITY_LOWEST 0xF0u

void arm_handle_irq(void);

static gic_handler *handlers[GIC_INTERRUPTS];

void gic_start(void)
{
    mmio_write(BOARD_GICD_BASE, GICD_CTLR, 0);
    for (uint32_t word = 0; word < GIC_INTERRUPTS / 32; word++) {
        mmio_write(BOARD_GICD_BASE, GICD_ICENABLER + 4 * word, UINT32_MAX);
        mmio_write(BOARD_GICD_BASE, GICD_ICPENDR + 4 * word, UINT32_MAX);
    }
    for (uint32_t word = 0; word < GIC_INTERRUPTS / 4; word++) {
        mmio_write(BOARD_GICD_BASE, GICD_IPRIORITYR + 4 * word, PRIORITY_OF_FOUR);
    }
    /* Of the shared ones only: private ones have their core's. */
    for (uint32_t word = 8; word < GIC_INTERRUPTS / 4; word++) {
        mmio_write(BOARD_GICD_BASE, GICD_ITARGETSR + 4 * word, TARGET_OF_FOUR);
    }
    mmio_write(BOARD_GICD_BASE, GICD_CTLR, CTLR_ENABLE_GROUP_0);
    mmio_write(BOARD_GICC_BASE, GICC_PMR, PRIORITY_LOWEST);
    mmio_write(BOARD_GICC_BASE, GICC_CTLR, CTLR_ENABLE_GROUP_0);
    arm_enable_interrupts();
}

void gic_enable(uint32_t interrupt, gic_handler *handler)
{
    handlers[interrupt] = handler;
    mmio_write(BOARD_GICD_BASE, GICD_ISENABLER + interrupt / 32 * 4, 1u << interrupt % 32);
    arm_dsb();
}

void gic_disable(uint32_t interrupt)
{
    mmio_write(BOARD_GICD_BASE, GICD_ICENABLER + interrupt / 32 * 4, 1u << interrupt % 32);
    /* It is off when the next instruction runs. */
    arm_dsb();
}

/* Called by runtime/arm/irq_entry.S. */
void arm_handle_irq(void)
{
    uint32_t acknowledged = mmio_read(BOARD_GICC_BASE, GICC_IAR);
    uint32_t interrupt = acknowledged & IAR_INTERRUPT;

    if (interrupt == IAR_SPURIOUS) {
        return;
    }
    if (interrupt >= GIC_INTERRUPTS || !handlers[interrupt]) {
        console_print("\ninterrupt %u without a handler\n", interrupt);
        program_exit(ABORT_EXIT + ABORT_IRQ);
    }
    handlers[interrupt]();
    /* The handler's writes reach their devices before the next interrupt. */
    arm_dsb();
    mmio_write(BOARD_GICC_BASE, GICC_EOIR, acknowledged);
}
