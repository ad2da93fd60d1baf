/* Interrupts by way of the INTC: sleep (TCU channel 2), the clock's own counter as it wraps (channel 0), and the RTC's
 * seconds. */
#include "board.h"
#include "clock.h"
#include "console.h"
#include "delay.h"
#include "irq.h"
#include "kernel.h"
#include "mmio.h"

#define IRQ_RTC 15u
#define TCU_TFCR 0x28u
#define TCU_TMCR 0x38u
#define RTC_RTCCR 0x00u
#define RTC_RTCSR 0x04u
#define RTCCR_RTCE (1u << 0)
#define RTCCR_1HZIE (1u << 5)

static volatile uint32_t wraps;
static volatile uint32_t seconds;

static void on_wrap(void *arg)
{
    (void)arg;
    wraps++;
    mmio_write(BOARD_TCU_BASE, TCU_TFCR, 1);
}

static void on_second(void *arg)
{
    (void)arg;
    seconds++;
    mmio_write(BOARD_RTC_BASE, RTC_RTCCR, RTCCR_RTCE | RTCCR_1HZIE);
}

static int program(void)
{
    uint64_t before = clock_ticks();

    msleep(20);
    console_print("slept %u us\n", (uint32_t)(clock_ticks() - before) / (BOARD_EXTAL_HZ / 1000000u));
    mmio_write(BOARD_TCU_BASE, TCU_TFCR, 1);
    mmio_write(BOARD_TCU_BASE, TCU_TMCR, 1);
    (void)request_irq(BOARD_IRQ_TCU0, on_wrap, 0);
    mmio_write(BOARD_RTC_BASE, RTC_RTCCR, RTCCR_RTCE | RTCCR_1HZIE);
    (void)request_irq(IRQ_RTC, on_second, 0);
    while (seconds < 2) {
        msleep(100);
    }
    console_print("wraps %u seconds %u of %u\n", wraps, seconds, mmio_read(BOARD_RTC_BASE, RTC_RTCSR));
    return 0;
}

int main(void)
{
    kernel_start(program);
}
