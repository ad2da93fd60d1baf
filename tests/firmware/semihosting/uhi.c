/* MIPS Unified Hosting Interface (MD01069). */
#include "call.h"
#include "host.h"

#define O_WRONLY 1u
#define O_RDWR 2u
#define O_APPEND 0x8u
#define O_CREAT 0x200u
#define O_TRUNC 0x400u

static int last_error;

static int call(unsigned operation, unsigned first, unsigned second, unsigned third)
{
    struct uhi_answer answer = uhi_call(operation, first, second, third);

    if (answer.value == -1) {
        last_error = answer.error;
    }
    return answer.value;
}

int host_open(const char *path, int mode)
{
    static const unsigned flags[4] = {0, O_WRONLY | O_CREAT | O_TRUNC, O_WRONLY | O_CREAT | O_APPEND, O_RDWR};

    return call(2, (unsigned)path, mode == MODE_UPDATE ? flags[3] : flags[mode / 4], 0644);
}

int host_close(int handle)
{
    return call(3, (unsigned)handle, 0, 0);
}

int host_read(int handle, void *to, unsigned bytes)
{
    return call(4, (unsigned)handle, (unsigned)to, bytes);
}

int host_write(int handle, const void *from, unsigned bytes)
{
    return call(5, (unsigned)handle, (unsigned)from, bytes);
}

int host_seek(int handle, int place)
{
    return call(6, (unsigned)handle, (unsigned)place, 0) == place ? 0 : -1;
}

/* A word of fstat's result: at 4 it is st_mode, at 16 the low half of st_size. */
static int stat_word(int handle, int place)
{
    unsigned stat[26];

    return call(8, (unsigned)handle, (unsigned)stat, 0) == 0 ? (int)stat[place / 4] : -1;
}

int host_length(int handle)
{
    return stat_word(handle, 16);
}

int host_is_terminal(int handle)
{
    return (stat_word(handle, 4) & 0170000) == 0020000;
}

int host_remove(const char *path)
{
    return call(7, (unsigned)path, 0, 0);
}

/* The interface has none. */
int host_rename(const char *from, const char *to)
{
    (void)from;
    (void)to;
    return -1;
}

int host_errno(void)
{
    return last_error;
}

int host_arguments(char **arguments, int most)
{
    static char words[1024];
    unsigned used = 0;
    int count = call(9, 0, 0, 0);

    for (int index = 0; index < count && index < most; index++) {
        arguments[index] = &words[used];
        call(11, (unsigned)index, (unsigned)&words[used], 0);
        used += (unsigned)call(10, (unsigned)index, 0, 0) + 1;
    }
    return count;
}

int host_other(const char *command, const char *argument)
{
    if (text_equal(command, "log")) {
        call(13, (unsigned)argument, 42, 0);
    } else if (text_equal(command, "assert")) {
        call(14, (unsigned)argument, (unsigned)"file.c", 12);
    } else if (text_equal(command, "exception")) {
        call(15, 0, 0, 0);
    } else if (text_equal(command, "unknown")) {
        say_number("unknown", call((unsigned)text_number(argument), 0, 0, 0));
    } else {
        return 0;
    }
    return 1;
}

_Noreturn void host_exit(int status)
{
    for (;;) {
        call(1, (unsigned)status, 0, 0);
    }
}
