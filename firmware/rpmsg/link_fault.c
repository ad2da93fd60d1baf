#include "link_fault.h"

#include <stdint.h>

struct text {
    char *to;
    size_t bytes, length;
};

static void put(struct text *text, char character)
{
    if (text->length + 1 < text->bytes) {
        text->to[text->length++] = character;
    }
}

static void put_number(struct text *text, uint32_t value, uint32_t base)
{
    char digits[10];
    int count = 0;

    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    while (count) {
        put(text, digits[--count]);
    }
}

static void put_string(struct text *text, const char *string)
{
    while (*string) {
        put(text, *string++);
    }
}

size_t link_text(char *to, size_t bytes, const char *format, va_list *arguments)
{
    struct text text = {.to = to, .bytes = bytes};

    for (; *format; format++) {
        if (*format != '%') {
            put(&text, *format);
            continue;
        }
        switch (*++format) {
        case 's': put_string(&text, va_arg(*arguments, const char *)); break;
        case 'u': put_number(&text, va_arg(*arguments, uint32_t), 10); break;
        case 'x': put_number(&text, va_arg(*arguments, uint32_t), 16); break;
        default: put(&text, *format); break;
        }
    }
    to[text.length] = '\0';
    return text.length;
}

void link_fault(struct link_monitor *monitor, const char *format, ...)
{
    va_list arguments;

    if (monitor->broken) {
        return;
    }
    monitor->broken = true;
    va_start(arguments, format);
    link_text(monitor->text, sizeof monitor->text, format, &arguments);
    va_end(arguments);
    monitor->report(monitor);
}
