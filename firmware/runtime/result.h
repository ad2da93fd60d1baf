/* Results of an experiment: one JSON object a line on the console, among the text for people. */
#ifndef RESULT_H
#define RESULT_H

#include <stdint.h>

/* {"metric":"write_time","unit":"us","value":94338}; `metric` and `unit` hold no character that JSON escapes. */
void result_number(const char *metric, const char *unit, uint64_t value);

/* {"metric":"data_check","value":"ok"}, for what is no number. */
void result_text(const char *metric, const char *value);

#endif
