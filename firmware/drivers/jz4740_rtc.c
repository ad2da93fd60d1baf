/* The end of a program: the JZ4740's real-time clock turns the power off, its watchdog resets (programming manual,
 * chapters Real-Time Clock and Watchdog Timer). */
#include "board.h"
#include "console.h"
#include "exit.h"
#include "jz4740_cgu.h"
#include "mips.h"
#include "mmio.h"
#include "spinlock.h"

#define RTC_RTCCR 0x00u
#define RTC_HCR 0x20u
#define RTC_HWFCR 0x24u
#define RTC_HRCR 0x28u

#define RTCCR_WRDY (1u << 7)
#define HCR_PD (1u << 0)

/* In clocks of 32768 Hz: how long a key must be held to wake, 100 ms, and how long the reset lasts, 60 ms. Their low
 * bits do not exist. */
#define HWFCR_WAKE_UP (BOARD_RTCLK_HZ / 10u & ~0x1Fu)
#define HRCR_RESET (BOARD_RTCLK_HZ * 6u / 100u & ~0x1Fu)

#define WDT_TDR 0x00u
#define WDT_TCER 0x04u
#define WDT_TCNT 0x08u
#define WDT_TCSR 0x0Cu

#define TCER_TCEN (1u << 0)
#define TCSR_EXT_EN (1u << 2)

#define TCU_TSCR 0x3Cu
#define TSCR_WDTSC (1u << 16)

#define RTC_LIMIT_READS 1000000u

/* The unit takes a write some of its own slow clocks later; until then it takes no other. */
static void rtc_write(uint32_t offset, uint32_t value)
{
    for (uint32_t reads = 0; reads < RTC_LIMIT_READS; reads++) {
        if (mmio_read(BOARD_RTC_BASE, RTC_RTCCR) & RTCCR_WRDY) {
            break;
        }
    }
    mmio_write(BOARD_RTC_BASE, offset, value);
}

static void hibernate(void)
{
    cgu_start_clock(CGU_RTC);
    rtc_write(RTC_HWFCR, HWFCR_WAKE_UP);
    rtc_write(RTC_HRCR, HRCR_RESET);
    rtc_write(RTC_HCR, HCR_PD);
}

static void watchdog_reset(void)
{
    mmio_write(BOARD_TCU_BASE, TCU_TSCR, TSCR_WDTSC);
    mmio_write(BOARD_WDT_BASE, WDT_TCER, 0);
    mmio_write(BOARD_WDT_BASE, WDT_TCNT, 0);
    mmio_write(BOARD_WDT_BASE, WDT_TDR, 0);
    mmio_write(BOARD_WDT_BASE, WDT_TCSR, TCSR_EXT_EN);
    mmio_write(BOARD_WDT_BASE, WDT_TCER, TCER_TCEN);
}

_Noreturn void program_exit(int status)
{
    (void)irq_save();
    if (status == EXIT_OK) {
        console_flush();
        hibernate();
    } else {
        console_print("exit status %d\n", status);
        console_flush();
        watchdog_reset();
    }
    /* Both take some clocks. */
    for (;;) {
        mips_wait();
    }
}
