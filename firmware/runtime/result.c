#include "result.h"

#include "console.h"

void result_number(const char *metric, const char *unit, uint64_t value)
{
    console_print("{\"metric\":\"%s\",\"unit\":\"%s\",\"value\":%llu}\n", metric, unit, (unsigned long long)value);
}

void result_number_at(const char *metric, const char *setting, int32_t at, const char *unit, uint64_t value)
{
    console_print("{\"metric\":\"%s\",\"%s\":%d,\"unit\":\"%s\",\"value\":%llu}\n", metric, setting, at, unit,
                  (unsigned long long)value);
}

void result_seconds_at(const char *metric, const char *setting, int32_t at, uint64_t clocks, uint32_t hz)
{
    /* In two steps: a day of clocks times 1000000 would not fit. */
    uint64_t seconds = clocks / hz;
    uint64_t microseconds = (clocks % hz * 1000000u + hz / 2) / hz;

    if (microseconds == 1000000u) {
        seconds++;
        microseconds = 0;
    }
    console_print("{\"metric\":\"%s\",\"%s\":%d,\"unit\":\"s\",\"value\":%llu.%06u}\n", metric, setting, at,
                  (unsigned long long)seconds, (uint32_t)microseconds);
}

void result_us_at(const char *metric, const char *setting, int32_t at, uint64_t nanoseconds)
{
    console_print("{\"metric\":\"%s\",\"%s\":%d,\"unit\":\"us\",\"value\":%llu.%03u}\n", metric, setting, at,
                  (unsigned long long)(nanoseconds / 1000), (uint32_t)(nanoseconds % 1000));
}

void result_text(const char *metric, const char *value)
{
    console_print("{\"metric\":\"%s\",\"value\":\"%s\"}\n", metric, value);
}
