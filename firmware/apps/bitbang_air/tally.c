#include "tally.h"

#include "clock.h"
#include "console.h"
#include "load.h"
#include "stopwatch.h"

static uint32_t frames;
static uint64_t cost_ticks, start_ticks, start_busy_ticks, end_ticks, end_busy_ticks;

static uint32_t on_air;
static uint64_t air_ticks, shortest_ticks = UINT64_MAX, longest_ticks;

void tally_begin(void)
{
    start_ticks = clock_ticks();
    start_busy_ticks = load_busy_ticks();
}

void tally_frame(uint64_t ticks)
{
    frames++;
    cost_ticks += ticks;
    end_ticks = clock_ticks();
    end_busy_ticks = load_busy_ticks();
}

void tally_air(uint64_t ticks)
{
    on_air++;
    air_ticks += ticks;
    shortest_ticks = ticks < shortest_ticks ? ticks : shortest_ticks;
    longest_ticks = ticks > longest_ticks ? ticks : longest_ticks;
}

static void print_us(const char *metric, const char *extent, uint64_t ticks, uint32_t count)
{
    uint32_t ns = (uint32_t)nanoseconds_each(ticks, count);

    console_print("{\"metric\":\"%s\",\"extent\":\"%s\",\"unit\":\"us\",\"value\":%u.%03u}\n", metric, extent,
                  ns / 1000u, ns % 1000u);
}

static void print_percent(const char *metric, uint64_t part, uint64_t whole)
{
    uint32_t hundredths = (uint32_t)((part * 10000u + whole / 2) / whole);

    console_print("{\"metric\":\"%s\",\"unit\":\"%%\",\"value\":%u.%02u}\n", metric, hundredths / 100u,
                  hundredths % 100u);
}

void tally_print(void)
{
    uint64_t whole = end_ticks - start_ticks;

    print_us("air_cost", "mean", cost_ticks, frames);
    print_us("air_period", "mean", whole, frames);
    print_percent("air_cost_share", cost_ticks, whole);
    print_percent("air_busy_share", end_busy_ticks - start_busy_ticks, whole);
    if (on_air) {
        print_us("air_time", "shortest", shortest_ticks, 1);
        print_us("air_time", "mean", air_ticks, on_air);
        print_us("air_time", "longest", longest_ticks, 1);
    }
}
