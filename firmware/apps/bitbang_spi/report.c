#include "report.h"

#include "clock.h"
#include "console.h"
#include "load.h"
#include "result.h"
#include "stopwatch.h"

#define LENGTHS (AT86RF230_FRAME_BYTES + 1)
#define FRAME "frame_bytes"

static struct frame_costs costs[LENGTHS];

struct moment {
    uint64_t ticks;
    uint64_t busy_ticks;
    struct at86rf230_counts counts;
};

/* The beginning of the frame in hand. */
static struct moment begin;

static struct moment moment_of(const struct at86rf230 *chip)
{
    return (struct moment){clock_ticks(), load_busy_ticks(), chip->counts};
}

static void add_counts(
    struct at86rf230_counts *sum, const struct at86rf230_counts *before, const struct at86rf230_counts *now)
{
    sum->register_reads += now->register_reads - before->register_reads;
    sum->register_writes += now->register_writes - before->register_writes;
    sum->buffer_reads += now->buffer_reads - before->buffer_reads;
    sum->buffer_writes += now->buffer_writes - before->buffer_writes;
    sum->wakeups += now->wakeups - before->wakeups;
}

void report_begin(const struct at86rf230 *chip)
{
    begin = moment_of(chip);
}

void report_frame(const struct at86rf230 *chip, uint8_t frame_bytes, uint64_t cost_ticks)
{
    struct frame_costs *of_length = &costs[frame_bytes];
    struct moment end = moment_of(chip);

    of_length->frames++;
    of_length->cost_ticks += cost_ticks;
    of_length->period_ticks += end.ticks - begin.ticks;
    of_length->busy_ticks += end.busy_ticks - begin.busy_ticks;
    add_counts(&of_length->counts, &begin.counts, &end.counts);
    begin = end;
}

static void print_percent(const char *metric, uint8_t frame_bytes, uint64_t part, uint64_t whole)
{
    uint32_t hundredths = (uint32_t)((part * 10000 + whole / 2) / whole);

    console_print("{\"metric\":\"%s\",\"" FRAME "\":%u,\"unit\":\"%%\",\"value\":%u.%02u}\n", metric, frame_bytes,
        hundredths / 100, hundredths % 100);
}

static void print_length(const char *metric, uint8_t frame_bytes, const struct frame_costs *of_length)
{
    result_us_at(metric, FRAME, frame_bytes, nanoseconds_each(of_length->cost_ticks, of_length->frames));
#if APP_REPORT_ALL
    const struct at86rf230_counts *counts = &of_length->counts;

    result_us_at("period", FRAME, frame_bytes, nanoseconds_each(of_length->period_ticks, of_length->frames));
    print_percent("busy_share", frame_bytes, of_length->busy_ticks, of_length->period_ticks);
    result_number_at("frames", FRAME, frame_bytes, "frames", of_length->frames);
    result_number_at("register_reads", FRAME, frame_bytes, "accesses", counts->register_reads);
    result_number_at("register_writes", FRAME, frame_bytes, "accesses", counts->register_writes);
    result_number_at("buffer_reads", FRAME, frame_bytes, "accesses", counts->buffer_reads);
    result_number_at("buffer_writes", FRAME, frame_bytes, "accesses", counts->buffer_writes);
    result_number_at("wakeups", FRAME, frame_bytes, "wake-ups", counts->wakeups);
#endif
}

void report_print(const char *metric)
{
    uint32_t longest = 0;

    for (uint32_t length = 0; length < LENGTHS; length++) {
        if (costs[length].frames) {
            print_length(metric, (uint8_t)length, &costs[length]);
            longest = length;
        }
    }
    if (costs[longest].frames) {
        print_percent("cost_load", (uint8_t)longest, costs[longest].cost_ticks, costs[longest].frames * PERIOD_TICKS);
    }
}
