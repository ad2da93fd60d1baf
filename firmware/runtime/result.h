/* Results of an experiment: one JSON object a line on the console, among the text for people. */
#ifndef RESULT_H
#define RESULT_H

#include <stdint.h>

/* {"metric":"write_time","unit":"us","value":94338}; `metric` and `unit` hold no character that JSON escapes. */
void result_number(const char *metric, const char *unit, uint64_t value);

/* {"metric":"calls","transfer":512,"unit":"calls","value":4096}: one of several measurements, made with `setting` at
 * `at`. */
void result_number_at(const char *metric, const char *setting, int32_t at, const char *unit, uint64_t value);

/* {"metric":"total_time","transfer":512,"unit":"s","value":13.929692}: `clocks` of a clock of `hz` as seconds,
 * rounded. */
void result_seconds_at(const char *metric, const char *setting, int32_t at, uint64_t clocks, uint32_t hz);

/* {"metric":"access_time","data_bytes":120,"unit":"us","value":280.042}: nanoseconds as microseconds. */
void result_us_at(const char *metric, const char *setting, int32_t at, uint64_t nanoseconds);

/* {"metric":"data_check","value":"ok"}, for what is no number. */
void result_text(const char *metric, const char *value);

#endif
