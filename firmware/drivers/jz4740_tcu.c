#include "jz4740_tcu.h"

#include "clock.h"
#include "jz4740_cgu.h"
#include "spinlock.h"
#include "ticks.h"

#define TCU_TESR 0x14u
#define TCU_TECR 0x18u
#define TCU_TFCR 0x28u
#define TCU_TMSR 0x34u
#define TCU_TMCR 0x38u
#define TCU_TSCR 0x3Cu

#define TCU_TDFR(channel) (0x40u + (channel) * 0x10u)
#define TCU_TCNT(channel) (0x48u + (channel) * 0x10u)
#define TCU_TCSR(channel) (0x4Cu + (channel) * 0x10u)

#define TCSR_EXT_EN (1u << 2)
#define TCSR_PRESCALE_1 (0u << 3)
#define TCSR_PRESCALE_64 (3u << 3)
#define TCSR_PRESCALE_1024 (5u << 3)

#define CHANNELS_ALL 0xFFu
/* Flags and masks: a channel's full match is its number's bit, its half match 16 above. */
#define MATCHES_ALL 0x00FF00FFu

/* The clock is two counters with the same input: all ticks for 5.5 ms, and every 1024th for 5.6 s. */
#define FINE 0u
#define COARSE 1u
#define COARSE_SHIFT 10
#define CLOCK_BITS 26
#define ALARM 2u
#define ALARM_SHIFT 6

#define COUNT_MAX 0xFFFFu

/* Ticks at the last call of clock_ticks. */
static uint64_t last_ticks;

static void configure(uint32_t channel, uint32_t prescale, uint32_t period)
{
    mmio_write(BOARD_TCU_BASE, TCU_TCSR(channel), TCSR_EXT_EN | prescale);
    mmio_write(BOARD_TCU_BASE, TCU_TDFR(channel), period);
    mmio_write(BOARD_TCU_BASE, TCU_TCNT(channel), 0);
}

void tcu_start(void)
{
    cgu_start_clock(CGU_TCU);
    /* Interrupts are not masked after reset. */
    mmio_write(BOARD_TCU_BASE, TCU_TMSR, MATCHES_ALL);
    mmio_write(BOARD_TCU_BASE, TCU_TECR, CHANNELS_ALL);
    mmio_write(BOARD_TCU_BASE, TCU_TFCR, MATCHES_ALL);
    mmio_write(BOARD_TCU_BASE, TCU_TSCR, 1u << FINE | 1u << COARSE | 1u << ALARM);
    configure(FINE, TCSR_PRESCALE_1, COUNT_MAX);
    configure(COARSE, TCSR_PRESCALE_1024, COUNT_MAX);
    configure(ALARM, TCSR_PRESCALE_64, COUNT_MAX);
    last_ticks = 0;
    mmio_write(BOARD_TCU_BASE, TCU_TESR, 1u << FINE | 1u << COARSE);
}

uint64_t clock_ticks(void)
{
    const uint32_t mask = (1u << CLOCK_BITS) - 1;
    uint32_t before = irq_save();
    uint32_t coarse = mmio_read(BOARD_TCU_BASE, TCU_TCNT(COARSE)) << COARSE_SHIFT;
    uint32_t fine = tcu_stamp();

    /* The number next to the coarse one that ends as the fine one does: they are read one after the other, and their
     * prescalers need not be in step. */
    uint32_t low = (coarse + (uint32_t)(int32_t)(int16_t)(fine - coarse)) & mask;
    last_ticks += (low - (uint32_t)last_ticks) & mask;
    uint64_t ticks = last_ticks;
    irq_restore(before);
    return ticks;
}

uint64_t clock_ticks_of_us(uint64_t microseconds)
{
    return TICKS_OF_US(microseconds, BOARD_EXTAL_HZ);
}

void tcu_set_alarm(uint64_t ticks)
{
    uint64_t now = clock_ticks();
    uint64_t left = ticks > now ? ticks - now : 0;
    uint32_t count = left >> ALARM_SHIFT < COUNT_MAX ? (uint32_t)(left >> ALARM_SHIFT) + 1 : COUNT_MAX;

    mmio_write(BOARD_TCU_BASE, TCU_TECR, 1u << ALARM);
    configure(ALARM, TCSR_PRESCALE_64, count);
    mmio_write(BOARD_TCU_BASE, TCU_TFCR, 1u << ALARM);
    mmio_write(BOARD_TCU_BASE, TCU_TMCR, 1u << ALARM);
    mmio_write(BOARD_TCU_BASE, TCU_TESR, 1u << ALARM);
}

void tcu_acknowledge_alarm(void)
{
    mmio_write(BOARD_TCU_BASE, TCU_TECR, 1u << ALARM);
    mmio_write(BOARD_TCU_BASE, TCU_TFCR, 1u << ALARM);
}

void tcu_enable_wrap_interrupt(void)
{
    mmio_write(BOARD_TCU_BASE, TCU_TFCR, 1u << COARSE);
    mmio_write(BOARD_TCU_BASE, TCU_TMCR, 1u << COARSE);
}

void tcu_acknowledge_wrap(void)
{
    mmio_write(BOARD_TCU_BASE, TCU_TFCR, 1u << COARSE);
}
