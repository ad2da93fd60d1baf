#include "line.h"

#include "console.h"
#include "console_input.h"

#include <stdbool.h>

#define CTRL_C 0x03
#define BELL 0x07
#define BACKSPACE 0x08
#define CTRL_U 0x15
#define DELETE 0x7F

/* The line before ended with a carriage return: a line feed after it does not end another line. */
static bool after_return;

static char get(void)
{
    int character;

    do {
        character = console_uart_get();
    } while (character < 0);
    return (char)character;
}

static size_t take_back(size_t length, size_t count)
{
    while (count-- && length) {
        console_uart_put(BACKSPACE);
        console_uart_put(' ');
        console_uart_put(BACKSPACE);
        length--;
    }
    return length;
}

void line_read(char *text, size_t size)
{
    size_t length = 0;

    for (;;) {
        char character = get();
        bool is_second = character == '\n' && after_return;

        after_return = character == '\r';
        if (is_second) {
            continue;
        }
        if (character == '\r' || character == '\n') {
            break;
        }
        if (character == CTRL_C) {
            length = 0;
            console_uart_put('^');
            console_uart_put('C');
            break;
        }
        if (character == BACKSPACE || character == DELETE) {
            length = take_back(length, 1);
        } else if (character == CTRL_U) {
            length = take_back(length, length);
        } else if ((unsigned char)character < ' ') {
            continue;
        } else if (length + 1 < size) {
            console_uart_put(character);
            text[length++] = character;
        } else {
            console_uart_put(BELL);
        }
    }
    text[length] = '\0';
    console_uart_put('\r');
    console_uart_put('\n');
}
