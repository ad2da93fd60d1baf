#include "report.h"

#include "board.h"
#include "console.h"
#include "result.h"
#include "stopwatch.h"

#define FRAME "frame_bytes"

void add_counts(struct at86rf230_counts *sum, const struct at86rf230_counts *before, const struct at86rf230_counts *now)
{
    sum->register_reads += now->register_reads - before->register_reads;
    sum->register_writes += now->register_writes - before->register_writes;
    sum->buffer_reads += now->buffer_reads - before->buffer_reads;
    sum->buffer_writes += now->buffer_writes - before->buffer_writes;
    sum->wakeups += now->wakeups - before->wakeups;
}

void report_costs(const char *metric, uint8_t frame_bytes, const struct frame_costs *costs)
{
    const struct at86rf230_counts *counts = &costs->counts;

    result_us_at(metric, FRAME, frame_bytes, nanoseconds_each(costs->cost_ticks, costs->frames));
    result_number_at("frames", FRAME, frame_bytes, "frames", costs->frames);
    result_number_at("register_reads", FRAME, frame_bytes, "accesses", counts->register_reads);
    result_number_at("register_writes", FRAME, frame_bytes, "accesses", counts->register_writes);
    result_number_at("buffer_reads", FRAME, frame_bytes, "accesses", counts->buffer_reads);
    result_number_at("buffer_writes", FRAME, frame_bytes, "accesses", counts->buffer_writes);
    result_number_at("wakeups", FRAME, frame_bytes, "wake-ups", counts->wakeups);
}

static void print_percent(const char *metric, uint8_t frame_bytes, uint64_t part, uint64_t whole)
{
    uint32_t hundredths = (uint32_t)((part * 10000 + whole / 2) / whole);

    console_print("{\"metric\":\"%s\",\"" FRAME "\":%u,\"unit\":\"%%\",\"value\":%u.%02u}\n", metric, frame_bytes, hundredths / 100,
                  hundredths % 100);
}

void report_load(uint8_t frame_bytes, const struct frame_costs *costs, const struct period *period)
{
    result_us_at("period", FRAME, frame_bytes, nanoseconds_each(period->ticks, period->frames));
    print_percent("cost_load", frame_bytes, costs->cost_ticks, (uint64_t)costs->frames * APP_PERIOD_US * (BOARD_EXTAL_HZ / 1000000u));
    print_percent("cpu_load", frame_bytes, period->busy_ticks, period->ticks);
}
