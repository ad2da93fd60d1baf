/* Executes its arguments as commands, one after the other, and prints the results. */
#include "host.h"

/* No multiple of what the host copies at once. */
#define BIG_BYTES 200003u

static char big[BIG_BYTES];

unsigned text_length(const char *text)
{
    unsigned length = 0;

    while (text[length] != 0) {
        length++;
    }
    return length;
}

int text_equal(const char *a, const char *b)
{
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

int text_number(const char *text)
{
    unsigned number = 0;

    while (*text != 0) {
        number = 10 * number + (unsigned)(*text++ - '0');
    }
    return (int)number;
}

void say(const char *text)
{
    host_write(STDOUT, text, text_length(text));
    host_write(STDOUT, "\n", 1);
}

void say_number(const char *what, int number)
{
    char digits[12];
    char *at = &digits[sizeof digits - 1];
    unsigned rest = number < 0 ? 0u - (unsigned)number : (unsigned)number;

    *at = 0;
    do {
        unsigned tenth = rest / 10;

        *--at = (char)('0' + (rest - 10 * tenth));
        rest = tenth;
    } while (rest != 0);
    if (number < 0) {
        *--at = '-';
    }
    host_write(STDOUT, what, text_length(what));
    host_write(STDOUT, " ", 1);
    say(at);
}

/* The result of a call; the reason if it failed. */
static void came(const char *command, int result)
{
    say_number(command, result);
    if (result == -1) {
        say_number("errno", host_errno());
    }
}

static void put(const char *name, const char *text, int mode)
{
    int handle = host_open(name, mode);

    if (handle == -1) {
        came("open", handle);
        return;
    }
    came("write", host_write(handle, text, text_length(text)));
    came("close", host_close(handle));
}

/* The contents from `place` on. */
static void get(const char *name, int place)
{
    char contents[256];
    int handle = host_open(name, MODE_READ);
    int bytes;

    if (handle == -1) {
        came("open", handle);
        return;
    }
    say_number("length", host_length(handle));
    say_number("terminal", host_is_terminal(handle));
    came("seek", host_seek(handle, place));
    bytes = host_read(handle, contents, sizeof contents - 1);
    came("read", bytes);
    if (bytes >= 0) {
        contents[bytes] = 0;
        say(contents);
    }
    host_close(handle);
}

static void lines(void)
{
    char line[64];
    int bytes;

    while ((bytes = host_read(STDIN, line, sizeof line - 1)) > 0) {
        line[bytes] = 0;
        say(line);
    }
    say_number("end", bytes);
}

static void many(const char *name)
{
    int count = 0;

    while (host_open(name, MODE_READ) != -1) {
        count++;
    }
    say_number("opened", count);
    say_number("errno", host_errno());
}

/* More than is copied at once, out and in again. */
static void large(const char *name)
{
    unsigned wrong = 0;
    int handle = host_open(name, MODE_WRITE);

    for (unsigned at = 0; at < BIG_BYTES; at++) {
        big[at] = (char)(at ^ at >> 8);
    }
    say_number("write", host_write(handle, big, BIG_BYTES));
    host_close(handle);
    for (unsigned at = 0; at < BIG_BYTES; at++) {
        big[at] = 0;
    }
    handle = host_open(name, MODE_READ);
    say_number("read", host_read(handle, big, BIG_BYTES));
    for (unsigned at = 0; at < BIG_BYTES; at++) {
        wrong += big[at] != (char)(at ^ at >> 8);
    }
    say_number("wrong", (int)wrong);
}

/* Invalid handles and addresses. */
static void misuse(const char *name)
{
    int handle = host_open(name, MODE_UPDATE);
    void *nowhere = (void *)0x5ffffff0;

    came("handle", host_read(1000, big, 1));
    came("handle", host_write(-1, big, 1));
    came("handle", host_close(77));
    came("address", host_write(handle, nowhere, 64));
    came("address", host_read(handle, nowhere, 64));
    came("endless", host_write(handle, big, 0xffffffffu) > 0 ? 1 : -1);
}

/* Prints until a device's register has bit 0 set, which never happens. */
static void poll(volatile unsigned *status)
{
    while ((*status & 1) == 0) {
        host_write(STDOUT, ".", 1);
    }
}

static int run(char **at)
{
    const char *name = at[1] ? at[1] : "";

    if (text_equal(at[0], "put")) {
        put(name, at[2], MODE_WRITE);
        return 3;
    } else if (text_equal(at[0], "add")) {
        put(name, at[2], MODE_APPEND);
        return 3;
    } else if (text_equal(at[0], "update")) {
        put(name, at[2], MODE_UPDATE);
        return 3;
    } else if (text_equal(at[0], "get")) {
        get(name, 0);
    } else if (text_equal(at[0], "from")) {
        get(name, text_number(at[2]));
        return 3;
    } else if (text_equal(at[0], "remove")) {
        came("remove", host_remove(name));
    } else if (text_equal(at[0], "rename")) {
        came("rename", host_rename(name, at[2]));
        return 3;
    } else if (text_equal(at[0], "many")) {
        many(name);
    } else if (text_equal(at[0], "large")) {
        large(name);
    } else if (text_equal(at[0], "misuse")) {
        misuse(name);
    } else if (text_equal(at[0], "lines")) {
        lines();
        return 1;
    } else if (text_equal(at[0], "poll")) {
        poll((volatile unsigned *)text_number(name));
    } else if (text_equal(at[0], "exit")) {
        host_exit(text_number(name));
    } else if (!host_other(at[0], name)) {
        say("no such command");
    }
    return 2;
}

int main(void)
{
    static char *arguments[32];
    int count = host_arguments(arguments, 31);

    if (count > 1 && text_equal(arguments[1], "arguments")) {
        for (int index = 0; index < count; index++) {
            say(arguments[index]);
        }
        return count;
    }
    for (int at = 1; at < count;) {
        at += run(&arguments[at]);
    }
    return 0;
}
