#include "format.h"

#include "string.h"

#include <stdbool.h>
#include <stdint.h>

#define DIGITS_LONGEST 11

struct conversion {
    bool left, zero;
    char sign;     /* what a number that is not negative begins with, or 0 */
    int width;
    int precision; /* -1: none */
};

static void put_text(struct stream *stream, const char *text, int count)
{
    for (int i = 0; i < count; i++) {
        stream_put(stream, text[i]);
    }
}

static void put_padding(struct stream *stream, char character, int count)
{
    for (int i = 0; i < count; i++) {
        stream_put(stream, character);
    }
}

/* Sign, zeros and digits or text, with spaces before or after them. */
static void put_field(struct stream *stream, const struct conversion *conversion, char sign, int zeros,
    const char *text, int count)
{
    int spaces = conversion->width - (sign != 0) - zeros - count;

    if (!conversion->left) {
        put_padding(stream, ' ', spaces);
    }
    if (sign) {
        stream_put(stream, sign);
    }
    put_padding(stream, '0', zeros);
    put_text(stream, text, count);
    if (conversion->left) {
        put_padding(stream, ' ', spaces);
    }
}

static void put_number(struct stream *stream, const struct conversion *conversion, char sign, uint32_t value,
    uint32_t base, const char *digits)
{
    char text[DIGITS_LONGEST];
    char *end = text + sizeof text, *at = end;

    do {
        *--at = digits[value % base];
        value /= base;
    } while (value);
    int count = (int)(end - at), zeros = conversion->precision - count;
    if (conversion->precision < 0 && conversion->zero && !conversion->left) {
        zeros = conversion->width - (sign != 0) - count;
    }
    put_field(stream, conversion, sign, zeros > 0 ? zeros : 0, at, count);
}

static void put_string(struct stream *stream, const struct conversion *conversion, const char *text)
{
    int count = (int)strlen(text);

    if (conversion->precision >= 0 && count > conversion->precision) {
        count = conversion->precision;
    }
    put_field(stream, conversion, 0, 0, text, count);
}

static const char *read_number(const char *format, int *number)
{
    *number = 0;
    while (*format >= '0' && *format <= '9') {
        *number = *number * 10 + (*format++ - '0');
    }
    return format;
}

/* Flags, width and precision; `format` points after the '%'. Returns the place of the conversion's letter. */
static const char *read_conversion(const char *format, struct conversion *conversion)
{
    *conversion = (struct conversion){.precision = -1};
    for (;; format++) {
        if (*format == '-') {
            conversion->left = true;
        } else if (*format == '0') {
            conversion->zero = true;
        } else if (*format == '+' || (*format == ' ' && !conversion->sign)) {
            conversion->sign = *format;
        } else if (*format != ' ') {
            break;
        }
    }
    format = read_number(format, &conversion->width);
    if (*format == '.') {
        format = read_number(format + 1, &conversion->precision);
    }
    while (*format == 'l' || *format == 'h') {
        format++;
    }
    return format;
}

void format_print(struct stream *stream, const char *format, va_list arguments)
{
    static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
    struct conversion conversion;

    for (;;) {
        const char *text = format;
        while (*format && *format != '%') {
            format++;
        }
        put_text(stream, text, (int)(format - text));
        if (!*format) {
            return;
        }
        format = read_conversion(format + 1, &conversion);
        switch (*format) {
        case 'd':
        case 'i': {
            int32_t value = va_arg(arguments, int32_t);
            uint32_t magnitude = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
            put_number(stream, &conversion, value < 0 ? '-' : conversion.sign, magnitude, 10, lower);
            break;
        }
        case 'u': put_number(stream, &conversion, 0, va_arg(arguments, uint32_t), 10, lower); break;
        case 'x': put_number(stream, &conversion, 0, va_arg(arguments, uint32_t), 16, lower); break;
        case 'X': put_number(stream, &conversion, 0, va_arg(arguments, uint32_t), 16, upper); break;
        case 'c': {
            char character = (char)va_arg(arguments, int);
            put_field(stream, &conversion, 0, 0, &character, 1);
            break;
        }
        case 's': put_string(stream, &conversion, va_arg(arguments, const char *)); break;
        case '\0': return;
        default: stream_put(stream, *format); break;
        }
        format++;
    }
}

void format_log(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    format_print(&stream_out, format, arguments);
    va_end(arguments);
}
