#include "altera_performance_counter.h"

#include "console.h"

#include <stdarg.h>

#define RULE "+---------------+-----+-----------+---------------+-----------+\n"

#define NAME_WIDTH 15
#define SHARE_WIDTH 5
#define SHARE_DIGITS 3
#define SECONDS_DIGITS 6
#define MOST_DECIMALS 12

/* A decimal number: value / 10^decimals. */
struct decimal {
    uint64_t value;
    int decimals;
};

uint64_t perf_get_section_time(void *base, int section)
{
    uint32_t offset = PERF_SECTION_STRIDE * (uint32_t)section;

    PERF_STOP_MEASURING(base);
    uint64_t high = mmio_read((uintptr_t)base, offset + PERF_TIME_HIGH);
    return high << 32 | mmio_read((uintptr_t)base, offset + PERF_TIME_LOW);
}

uint64_t perf_get_total_time(void *base)
{
    return perf_get_section_time(base, 0);
}

uint32_t perf_get_num_starts(void *base, int section)
{
    return mmio_read((uintptr_t)base, PERF_SECTION_STRIDE * (uint32_t)section + PERF_EVENTS);
}

static uint64_t power_of_ten(int exponent)
{
    uint64_t power = 1;

    while (exponent--) {
        power *= 10;
    }
    return power;
}

/* The quotient to `digits` significant digits, without trailing zeros after the point (printf's %g, but never with an
   exponent). A dividend up to 10^12 and a divisor up to 10^11 don't overflow. */
static struct decimal significant(uint64_t dividend, uint64_t divisor, int digits)
{
    struct decimal result = {0, 0};

    if (!dividend || !divisor) {
        return result;
    }
    while (result.value = (dividend * power_of_ten(result.decimals) + divisor / 2) / divisor,
           result.value < power_of_ten(digits - 1) && result.decimals < MOST_DECIMALS) {
        result.decimals++;
    }
    while (result.decimals && result.value % 10 == 0) {
        result.value /= 10;
        result.decimals--;
    }
    return result;
}

static int digits_of(uint64_t number)
{
    int digits = 1;

    while (number >= 10) {
        number /= 10;
        digits++;
    }
    return digits;
}

static void print_spaces(int count)
{
    while (count-- > 0) {
        console_print(" ");
    }
}

static void print_decimal(struct decimal number, int width)
{
    uint64_t one = power_of_ten(number.decimals);
    uint64_t whole = number.value / one, rest = number.value % one;
    int length = digits_of(whole) + (number.decimals ? 1 + number.decimals : 0);

    print_spaces(width - length);
    console_print("%llu", (unsigned long long)whole);
    if (number.decimals) {
        console_print(".");
        for (int zeros = number.decimals - digits_of(rest); zeros > 0; zeros--) {
            console_print("0");
        }
        console_print("%llu", (unsigned long long)rest);
    }
}

static void print_name(const char *name)
{
    int length = 0;

    while (name[length]) {
        length++;
    }
    console_print("|%s", name);
    print_spaces(NAME_WIDTH - length);
}

static void print_section(void *base, uint32_t clock_hz, int section, const char *name, uint64_t total)
{
    uint64_t clocks = perf_get_section_time(base, section);
    /* Five decimals. */
    uint64_t time = (clocks * 100000 + clock_hz / 2) / clock_hz;

    print_name(name);
    console_print("|");
    print_decimal(significant(clocks * 100, total, SHARE_DIGITS), SHARE_WIDTH);
    console_print("|%5llu.%05llu", (unsigned long long)(time / 100000), (unsigned long long)(time % 100000));
    console_print("|%15llu|%11u|\n%s", (unsigned long long)clocks, perf_get_num_starts(base, section), RULE);
}

int perf_print_formatted_report(void *base, uint32_t clock_hz, int sections, ...)
{
    va_list names;
    uint64_t total = perf_get_total_time(base);

    console_print("--Performance Counter Report--\nTotal Time: ");
    print_decimal(significant(total, clock_hz, SECONDS_DIGITS), 0);
    console_print(" seconds  (%llu clock-cycles)\n", (unsigned long long)total);
    console_print("%s| Section       |  %%  | Time (sec)|  Time (clocks)|Occurrences|\n%s", RULE, RULE);

    va_start(names, sections);
    for (int section = 1; section <= sections; section++) {
        print_section(base, clock_hz, section, va_arg(names, const char *), total);
    }
    va_end(names);
    return 0;
}
