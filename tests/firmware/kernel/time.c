/* The clock, delays and sleep against one another and against the real-time clock. */
#include "board.h"
#include "clock.h"
#include "delay.h"
#include "expect.h"
#include "jz4740_cgu.h"
#include "jz4740_tcu.h"
#include "kernel.h"
#include "mmio.h"

#define RTC_RTCSR 0x04u

#define TICKS_A_SECOND TCU_TICKS_HZ

static uint32_t ticks_of(void (*wait)(uint32_t), uint32_t amount)
{
    uint64_t start = clock_ticks();

    wait(amount);
    return (uint32_t)(clock_ticks() - start);
}

/* Not too short, but for ticks that had begun, and as much longer as calls, the clock's reads and their resolution
 * take. */
static void delays(void)
{
    expect_between(ticks_of(ndelay, 1000), 12, 24, "ticks of 1 us");
    expect_between(ticks_of(ndelay, 50000), 600, 620, "ticks of 50 us");
    expect_between(ticks_of(udelay, 3210), 38520, 38600, "ticks of 3.21 ms");
    expect_between(ticks_of(msleep, 5), 60000, 60500, "ticks of 5 ms asleep");
    expect_between(ticks_of(msleep, 1000), TICKS_A_SECOND, TICKS_A_SECOND + 500, "ticks of 1 s asleep");
}

/* The fine counter wraps after 5.5 ms. */
static void clock_without_interrupts(void)
{
    uint32_t before = irq_save();

    expect_between(ticks_of(udelay, 100000), 1199998, 1202000, "ticks of 100 ms, interrupts kept out");
    irq_restore(before);
}

static void clock_never_steps_back(void)
{
    uint64_t last = clock_ticks();

    for (uint32_t i = 0; i < 40000; i++) {
        uint64_t now = clock_ticks();
        expect(now >= last && now - last < 1000, "the clock goes on");
        last = now;
    }
}

static void wait_for_second(void)
{
    uint32_t second = mmio_read(BOARD_RTC_BASE, RTC_RTCSR);

    while (mmio_read(BOARD_RTC_BASE, RTC_RTCSR) == second) {
        msleep(1);
    }
}

/* Longer than the clock's two counters together. */
static void clock_against_seconds(void)
{
    wait_for_second();
    uint64_t start = clock_ticks();
    uint32_t second = mmio_read(BOARD_RTC_BASE, RTC_RTCSR);

    msleep(12500);
    wait_for_second();
    uint32_t seconds = mmio_read(BOARD_RTC_BASE, RTC_RTCSR) - second;
    uint32_t ticks = (uint32_t)(clock_ticks() - start);
    expect(seconds == 13, "13 s are 13 s");
    expect_between(ticks, 13 * TICKS_A_SECOND - 2 * TICKS_A_SECOND / 1000,
        13 * TICKS_A_SECOND + 2 * TICKS_A_SECOND / 1000, "ticks of 13 s");
}

static void clocks(void)
{
    expect(cgu_cclk_hz() == 336000000, "the core's clock");
    expect(cgu_hclk_hz() == 112000000, "the AHB bus's clock");
    expect(cgu_pclk_hz() == 112000000, "the APB bus's clock");
}

static int program(void)
{
    delays();
    clock_without_interrupts();
    clock_never_steps_back();
    clock_against_seconds();
    clocks();
    console_print("time: ok\n");
    return EXIT_OK;
}

int main(void)
{
    kernel_start(program);
}
