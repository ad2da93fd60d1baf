/* The red LED blinks, is on while the button is held, and then each edge at the button interrupts and toggles it. */
#include "arm.h"
#include "atmel_aic.h"
#include "atmel_pio4.h"
#include "atmel_tc.h"
#include "board.h"
#include "mmio.h"

/* PB6, on while it is low, and PB9, low while pressed. */
#define LED (1u << 6)
#define KEY (1u << 9)
#define PIOB (BOARD_PIO_BASE + 0x40u)
#define MSKR 0x00u
#define CFGR 0x04u
#define PDSR 0x08u
#define IER 0x20u
#define ISR 0x2cu
#define CFGR_PUEN (1u << 9)
#define CFGR_BOTH_EDGES (2u << 24)
/* Peripheral identifier of PIOB. */
#define ID_PIOB 68u
/* TIMER_CLOCK2 is an eighth of the peripheral clock. */
#define TICKS_OF_MS (BOARD_PERIPHERAL_HZ / 8u / 1000u)

static volatile uint32_t edges;

static void light(bool on)
{
    pio_set(PIO_B, LED, !on);
}

static void wait_ms(uint32_t ms)
{
    tc_start(0);
    while (tc_ticks(0) < ms * TICKS_OF_MS) {
    }
}

static bool is_pressed(void)
{
    return (mmio_read(PIOB, PDSR) & KEY) == 0;
}

static void key_interrupt(void)
{
    if (mmio_read(PIOB, ISR) & KEY) {
        edges += 1;
        light(mmio_read(PIOB, PDSR) & LED);
    }
}

void serve_interrupt(void);

void serve_interrupt(void)
{
    ((aic_handler *)mmio_read(BOARD_AIC_BASE, AIC_IVR))();
    mmio_write(BOARD_AIC_BASE, AIC_EOICR, 0);
}

/* On the stack of main, which runs in supervisor mode. */
__asm__(".text\n"
        ".arm\n"
        ".globl arm_irq_entry\n"
        "arm_irq_entry:\n"
        "    sub lr, lr, #4\n"
        "    srsdb sp!, #19\n"
        "    cps #19\n"
        "    push {r0-r3, r12, lr}\n"
        "    bl serve_interrupt\n"
        "    pop {r0-r3, r12, lr}\n"
        "    rfeia sp!\n");

int main(void)
{
    tc_configure(0);
    pio_make_outputs(PIO_B, LED, true);
    mmio_write(PIOB, MSKR, KEY);
    mmio_write(PIOB, CFGR, CFGR_PUEN);
    for (uint32_t blinks = 0; blinks < 4; blinks++) {
        light(true);
        wait_ms(2);
        light(false);
        wait_ms(2);
    }
    while (!is_pressed()) {
    }
    light(true);
    while (is_pressed()) {
    }
    light(false);
    aic_enable(ID_PIOB, 1, AIC_LEVEL, key_interrupt);
    mmio_write(PIOB, MSKR, KEY);
    mmio_write(PIOB, CFGR, CFGR_PUEN | CFGR_BOTH_EDGES);
    (void)mmio_read(PIOB, ISR);
    mmio_write(PIOB, IER, KEY);
    arm_enable_interrupts();
    while (edges < 4) {
        arm_wait_for_interrupt();
    }
    return 0;
}
