#include "console.h"

#include <stdarg.h>
#include <stdbool.h>

static bool disabled;

static void put(char character)
{
    if (!disabled) {
        console_uart_put(character);
    }
}

static void put_text(const char *text)
{
    while (*text) {
        put(*text++);
    }
}

static void put_number(uint64_t value, uint32_t base, int width, char padding)
{
    char digits[20];
    int count = 0;

    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    for (int missing = width - count; missing > 0; missing--) {
        put(padding);
    }
    while (count) {
        put(digits[--count]);
    }
}

static void put_signed(int64_t value, int width, char padding)
{
    if (value < 0) {
        put('-');
        put_number(0 - (uint64_t)value, 10, width - 1, padding);
    } else {
        put_number((uint64_t)value, 10, width, padding);
    }
}

/* Prints one conversion; `format` points after the '%'. Returns the rest of the text. */
static const char *put_conversion(const char *format, va_list *arguments)
{
    char padding = ' ';
    int width = 0;
    bool wide = false;

    if (*format == '0') {
        padding = '0';
        format++;
    }
    while (*format >= '0' && *format <= '9') {
        width = width * 10 + (*format++ - '0');
    }
    while (*format == 'l') {
        wide = format[1] == 'l' || wide;
        format++;
    }
    switch (*format) {
    case 's': put_text(va_arg(*arguments, const char *)); break;
    case 'c': put((char)va_arg(*arguments, int)); break;
    case 'd': put_signed(wide ? va_arg(*arguments, int64_t) : va_arg(*arguments, int32_t), width, padding); break;
    case 'u': put_number(wide ? va_arg(*arguments, uint64_t) : va_arg(*arguments, uint32_t), 10, width, padding); break;
    case 'x': put_number(wide ? va_arg(*arguments, uint64_t) : va_arg(*arguments, uint32_t), 16, width, padding); break;
    case '\0': return format;
    default: put(*format); break;
    }
    return format + 1;
}

void console_print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    while (*format) {
        if (*format == '%') {
            format = put_conversion(format + 1, &arguments);
        } else {
            put(*format++);
        }
    }
    va_end(arguments);
}

void console_flush(void)
{
    if (!disabled) {
        console_uart_flush();
    }
}

void console_disable(void)
{
    disabled = true;
}
