#include "commands.h"

#include "console.h"
#include "uptime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_WORDS_PEEKED 64u

struct command {
    const char *name;
    const char *help;
    int (*run)(char *arguments);
};

static int help(char *arguments);

/* Returns the next word of a text and moves on past it; 0 at the end. */
static char *next_word(char **text)
{
    char *word = *text;

    while (*word == ' ') {
        word++;
    }
    char *end = word;
    while (*end && *end != ' ') {
        end++;
    }
    *text = *end ? end + 1 : end;
    *end = '\0';
    return *word ? word : NULL;
}

static bool is_same(const char *text, const char *other)
{
    while (*text && *text == *other) {
        text++;
        other++;
    }
    return *text == *other;
}

/* Decimal, or hexadecimal after 0x. False if it is not a number. */
static bool read_number(const char *text, uint32_t *value)
{
    uint32_t base = 10;

    if (text[0] == '0' && text[1] == 'x') {
        base = 16;
        text += 2;
    }
    *value = 0;
    if (!*text) {
        return false;
    }
    for (; *text; text++) {
        uint32_t digit;

        if (*text >= '0' && *text <= '9') {
            digit = (uint32_t)(*text - '0');
        } else if (base == 16 && *text >= 'a' && *text <= 'f') {
            digit = (uint32_t)(*text - 'a') + 10;
        } else {
            return false;
        }
        *value = *value * base + digit;
    }
    return true;
}

static int echo(char *arguments)
{
    console_print("%s\r\n", arguments);
    return -1;
}

static int peek(char *arguments)
{
    char *address_text = next_word(&arguments);
    char *count_text = next_word(&arguments);
    uint32_t address;
    uint32_t count = 1;

    if (!address_text || !read_number(address_text, &address) || address % 4
        || (count_text && !read_number(count_text, &count)) || count > MOST_WORDS_PEEKED) {
        console_print("peek ADDRESS [WORDS]: an address that 4 divides, at most %u words\r\n", MOST_WORDS_PEEKED);
        return -1;
    }
    for (; count; count--, address += 4) {
        console_print("%08x: %08x\r\n", address, *(const volatile uint32_t *)(uintptr_t)address);
    }
    return -1;
}

static int uptime(char *arguments)
{
    (void)arguments;
    console_print("%llu us\r\n", (unsigned long long)uptime_us());
    return -1;
}

static int end(char *arguments)
{
    char *text = next_word(&arguments);
    uint32_t status = 0;

    if (text && (!read_number(text, &status) || status > 255)) {
        console_print("exit [STATUS]: 0 to 255\r\n");
        return -1;
    }
    return (int)status;
}

static const struct command commands[] = {
    {"help", "lists the commands", help},
    {"echo", "TEXT: prints a text", echo},
    {"peek", "ADDRESS [WORDS]: prints words of memory", peek},
    {"uptime", "microseconds since the start", uptime},
    {"exit", "[STATUS]: ends the program", end},
};

static int help(char *arguments)
{
    (void)arguments;
    for (size_t index = 0; index < sizeof commands / sizeof commands[0]; index++) {
        console_print("%s  %s\r\n", commands[index].name, commands[index].help);
    }
    return -1;
}

int command_run(char *line)
{
    char *name = next_word(&line);

    if (!name) {
        return -1;
    }
    for (size_t index = 0; index < sizeof commands / sizeof commands[0]; index++) {
        if (is_same(name, commands[index].name)) {
            return commands[index].run(line);
        }
    }
    console_print("%s: no such command; help lists them\r\n", name);
    return -1;
}
