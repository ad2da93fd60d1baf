#include "uptime.h"

#include "board.h"

#if defined(BOARD_SIMPLEUART_BASE)
/* PicoSoC has no timer: its core's cycles. */
#include "riscv.h"

void uptime_start(void)
{
}

uint64_t uptime_us(void)
{
    return riscv_counter_read(cycle, cycleh) / (BOARD_CLOCK_HZ / 1000000u);
}

#elif defined(BOARD_JTAG_UART_BASE)
#include "altera_timer.h"

void uptime_start(void)
{
    tick_start();
}

uint64_t uptime_us(void)
{
    return tick_ms() * 1000ull;
}

#elif defined(BOARD_MCK_HZ)
#include "atmel_tc.h"

void uptime_start(void)
{
    tc_configure(0);
    tc_start(0);
}

/* A tick is an eighth of the peripheral clock; they wrap after 413 s. */
uint64_t uptime_us(void)
{
    return tc_ticks(0) * 8000000ull / BOARD_PERIPHERAL_HZ;
}

#elif defined(BOARD_CORE_HZ)
#include "armv7m.h"

void uptime_start(void)
{
}

/* The cycle counter wraps after 42 s. */
uint64_t uptime_us(void)
{
    return armv7m_cycles() / (BOARD_CORE_HZ / 1000000u);
}

#else
#include "clock.h"
#include "ticks.h"

#if defined(BOARD_EXTAL_HZ)
#define UPTIME_HZ BOARD_EXTAL_HZ
#elif defined(BOARD_TIMER_HZ)
#define UPTIME_HZ BOARD_TIMER_HZ
#else
#define UPTIME_HZ BOARD_MTIME_HZ
#endif

void uptime_start(void)
{
}

uint64_t uptime_us(void)
{
    return US_OF_TICKS(clock_ticks(), UPTIME_HZ);
}

#endif
