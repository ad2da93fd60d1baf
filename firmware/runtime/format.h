/* printf as embedded C libraries have it, with the structure of newlib's small one: each conversion makes its digits in
 * a buffer and hands padding, sign and digits to the stream character by character. */
#ifndef FORMAT_H
#define FORMAT_H

#include "stream.h"

#include <stdarg.h>

/* Prints %d %i %u %x %X %c %s %% with flags "-0+ ", widths, precisions and l. */
void format_print(struct stream *stream, const char *format, va_list arguments);

/* The same to the log. */
void format_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
