#include "result.h"

#include "console.h"

void result_number(const char *metric, const char *unit, uint64_t value)
{
    console_print("{\"metric\":\"%s\",\"unit\":\"%s\",\"value\":%llu}\n", metric, unit, (unsigned long long)value);
}

void result_text(const char *metric, const char *value)
{
    console_print("{\"metric\":\"%s\",\"value\":\"%s\"}\n", metric, value);
}
