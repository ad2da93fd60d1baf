/* What wait states of the flash cost: the same work at each clock that the board names, with the wait states that the
 * flash needs there, and with each of its accelerators on and off. All is measured first, then printed: the console
 * belongs to the clock out of reset. */
#include "armv7m.h"
#include "board.h"
#include "console.h"
#include "exit.h"
#include "parts.h"
#include "section.h"
#include "stm32_rates.h"

#include <stdbool.h>
#include <stddef.h>

#define STRING_OF(text) #text
#define STRING(macro) STRING_OF(macro)

/* Moves all code after it, which is the measured work, relative to the lines of the flash. */
__asm__(".pushsection .text.padding, \"axR\", %progbits\n"
        ".space " STRING(APP_OFFSET) "\n"
        ".popsection");

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct stm32_rate rates[] = {BOARD_RATES};

static const struct way {
    const char *name;
    uint32_t accelerators;
} ways[] = {
    {"off", 0},
    {"prefetch", STM32_FLASH_PREFETCH},
    {"i-cache", STM32_FLASH_I_CACHE},
    {"d-cache", STM32_FLASH_D_CACHE},
    {"caches", STM32_FLASH_I_CACHE | STM32_FLASH_D_CACHE},
    {"all", STM32_FLASH_PREFETCH | STM32_FLASH_I_CACHE | STM32_FLASH_D_CACHE},
};

static struct measurement {
    uint32_t cycles;
    uint16_t crc;
} measured[COUNT(rates)][COUNT(ways)];

/* No constant to the compiler: with either value the program is the same, and lies the same in memory. */
#ifdef APP_SWEEP_WHOLE
static const volatile bool whole_sweep = true;
#else
static const volatile bool whole_sweep = false;
#endif

static bool is_wanted(size_t rate, size_t way)
{
    bool is_an_end = rate == 0 || rate == COUNT(rates) - 1;

    return whole_sweep || (is_an_end && (way == 0 || way == COUNT(ways) - 1));
}

static uint16_t one_round(uint32_t round, uint16_t crc)
{
    crc = list_round(round, crc);
    crc = matrix_round(round, crc);
    return scanner_round(round, crc);
}

SECTION static uint16_t timed_rounds(uint16_t crc)
{
    for (uint32_t round = 1; round <= APP_ITERATIONS; round++) {
        crc = one_round(round, crc);
    }
    return crc;
}

/* The same work each time. The caches are filled by the previous round. */
static struct measurement measure(void)
{
    list_set_up(0x13579BDFu);
    matrix_set_up(0x2468ACE1u);
    scanner_set_up(0x0F1E2D3Cu);
    uint16_t crc = one_round(0, 0xFFFF);
    uint32_t start = armv7m_cycles();
    crc = timed_rounds(crc);
    uint32_t cycles = armv7m_cycles() - start;
    return (struct measurement){cycles / APP_ITERATIONS, crc};
}

static void print(const struct stm32_rate *rate, const struct way *way, uint32_t cycles)
{
    console_print("{\"metric\":\"cycles\",\"clock_mhz\":%u,\"wait_states\":%u,\"accelerators\":\"%s\","
                  "\"unit\":\"cycles\",\"value\":%u}\n", rate->mhz, rate->wait_states, way->name, cycles);
}

static int print_all(void)
{
    uint16_t crc = measured[0][0].crc;

    for (size_t rate = 0; rate < COUNT(rates); rate++) {
        for (size_t way = 0; way < COUNT(ways); way++) {
            if (!is_wanted(rate, way)) {
                continue;
            }
            if (measured[rate][way].crc != crc) {
                console_print("at %u MHz the work came to another checksum\n", rates[rate].mhz);
                return EXIT_FAILED;
            }
            print(&rates[rate], &ways[way], measured[rate][way].cycles);
        }
    }
    console_print("checksum 0x%04x\n", crc);
    return EXIT_OK;
}

int main(void)
{
    for (size_t rate = 0; rate < COUNT(rates); rate++) {
        if (!is_wanted(rate, 0)) {
            continue;
        }
        if (!stm32_rate_set(rates[rate])) {
            console_print("an oscillator or the PLL never got ready\n");
            return EXIT_FAILED;
        }
        for (size_t way = 0; way < COUNT(ways); way++) {
            if (is_wanted(rate, way)) {
                stm32_flash_accelerate(ways[way].accelerators);
                measured[rate][way] = measure();
            }
        }
        stm32_rate_reset();
    }
    return print_all();
}
