/* Semihosting for AArch32 and AArch64, 2.0, and RISC-V Semihosting, 0.4. */
#include "call.h"
#include "host.h"

int host_open(const char *path, int mode)
{
    return semihosting_call_with(0x01, (unsigned)path, (unsigned)mode, text_length(path), 0);
}

int host_close(int handle)
{
    return semihosting_call_with(0x02, (unsigned)handle, 0, 0, 0);
}

int host_read(int handle, void *to, unsigned bytes)
{
    int rest = semihosting_call_with(0x06, (unsigned)handle, (unsigned)to, bytes, 0);

    return rest < 0 ? rest : (int)bytes - rest;
}

int host_write(int handle, const void *from, unsigned bytes)
{
    int rest = semihosting_call_with(0x05, (unsigned)handle, (unsigned)from, bytes, 0);

    return rest == (int)bytes && bytes > 0 ? -1 : (int)bytes - rest;
}

int host_seek(int handle, int place)
{
    return semihosting_call_with(0x0a, (unsigned)handle, (unsigned)place, 0, 0);
}

int host_length(int handle)
{
    return semihosting_call_with(0x0c, (unsigned)handle, 0, 0, 0);
}

int host_is_terminal(int handle)
{
    return semihosting_call_with(0x09, (unsigned)handle, 0, 0, 0);
}

int host_remove(const char *path)
{
    return semihosting_call_with(0x0e, (unsigned)path, text_length(path), 0, 0);
}

int host_rename(const char *from, const char *to)
{
    return semihosting_call_with(0x0f, (unsigned)from, text_length(from), (unsigned)to, text_length(to));
}

int host_errno(void)
{
    return semihosting_call(0x13, 0);
}

/* Splits the command line as the start-up code of C libraries does. */
int host_arguments(char **arguments, int most)
{
    static char line[1024];
    unsigned block[2] = {(unsigned)line, sizeof line};
    char *at = line;
    int count = 0;

    if (semihosting_call(0x15, (unsigned)block) != 0) {
        return 0;
    }
    while (count < most) {
        char end = ' ';

        while (*at == ' ') {
            at++;
        }
        if (*at == 0) {
            break;
        }
        if (*at == '"' || *at == '\'') {
            end = *at++;
        }
        arguments[count++] = at;
        while (*at != 0 && *at != end) {
            at++;
        }
        if (*at != 0) {
            *at++ = 0;
        }
    }
    return count;
}

static void times(void)
{
    unsigned elapsed[2];

    say_number("clock", semihosting_call(0x10, 0));
    say_number("time", semihosting_call(0x11, 0));
    semihosting_call(0x30, (unsigned)elapsed);
    say_number("elapsed", (int)elapsed[0]);
    say_number("frequency", semihosting_call(0x31, 0));
}

static void features(void)
{
    unsigned char bytes[5] = {0};
    int handle = host_open(":semihosting-features", MODE_READ);

    say_number("length", host_length(handle));
    say_number("read", host_read(handle, bytes, sizeof bytes));
    say_number("features", bytes[4]);
    say_number("close", host_close(handle));
}

static void heap(void)
{
    unsigned info[4] = {1, 2, 3, 4};

    semihosting_call_with(0x16, (unsigned)info, 0, 0, 0);
    say_number("heap", (int)(info[0] | info[1] | info[2] | info[3]));
}

int host_other(const char *command, const char *argument)
{
    char name[32];

    if (text_equal(command, "times")) {
        times();
    } else if (text_equal(command, "features")) {
        features();
    } else if (text_equal(command, "heap")) {
        heap();
    } else if (text_equal(command, "temporary")) {
        unsigned number = (unsigned)text_number(argument);

        say_number("temporary", semihosting_call_with(0x0d, (unsigned)name, number, sizeof name, 0));
        say(name);
    } else if (text_equal(command, "character")) {
        say_number("character", semihosting_call(0x07, 0));
    } else if (text_equal(command, "system")) {
        say_number("system", semihosting_call_with(0x12, (unsigned)argument, text_length(argument), 0, 0));
    } else if (text_equal(command, "reason")) {
        semihosting_call(SYS_EXIT, (unsigned)text_number(argument));
    } else if (text_equal(command, "extended")) {
        semihosting_call_with(0x20, (unsigned)text_number(argument), 6, 0, 0);
    } else if (text_equal(command, "unknown")) {
        say_number("unknown", semihosting_call((unsigned)text_number(argument), 0));
    } else {
        return 0;
    }
    return 1;
}

_Noreturn void host_exit(int status)
{
    for (;;) {
        semihosting_call_with(0x20, APPLICATION_EXIT, (unsigned)status, 0, 0);
    }
}
