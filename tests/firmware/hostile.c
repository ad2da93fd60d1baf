/* Tries by semihosting to reach files of the host that it must not reach, by every call that could:
   the status is the number of files that it reached. */
#include "call.h"

#include <stdint.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[] = {
    "secret.txt",
    "./secret.txt",
    "../secret.txt",
    "../../../../../../../../etc/passwd",
    "inside/../../secret.txt",
    "link",
    "folder-link/secret.txt",
    "/etc/passwd",
    "/etc/hostname",
    "/proc/self/environ",
    "/proc/self/cwd/secret.txt",
    "/proc/self/mem",
    "/dev/tty",
    "/tmp/hostile",
    "flash.bin",
    "result.json",
    "waves.vcd",
    "benign.elf",
    "new.txt",
    "",
    ".",
    "..",
    "/",
};

static char buffer[64] = "overwritten by the firmware";
static char name_buffer[] = "renamed.txt";

#if defined(__mips__)

enum { OPEN = 2, CLOSE = 3, READ = 4, WRITE = 5, UNLINK = 7, LINK = 22 };

static int32_t call(uint32_t operation, uintptr_t first, uintptr_t second, uintptr_t third)
{
    return uhi_call(operation, first, second, third).value;
}

static int32_t open_file(const char *name, uint32_t mode)
{
    /* O_RDONLY to O_RDWR, with O_APPEND, O_CREAT and O_TRUNC in turn */
    return call(OPEN, (uintptr_t)name, (mode & 3u) | (mode & 4u ? 0x600u : 0) | (mode & 8u ? 8u : 0), 0644);
}

static void use_and_close(int32_t handle)
{
    call(READ, (uintptr_t)handle, (uintptr_t)buffer, sizeof(buffer));
    call(WRITE, (uintptr_t)handle, (uintptr_t)buffer, sizeof(buffer));
    call(CLOSE, (uintptr_t)handle, 0, 0);
}

static void move_and_remove(const char *name)
{
    call(LINK, (uintptr_t)name, (uintptr_t)name_buffer, 0);
    call(UNLINK, (uintptr_t)name, 0, 0);
}

static void others(void)
{
    for (uint32_t operation = 6; operation < 32; operation++) {
        /* not those that print, or end the program: plog, assertions, exceptions, a failed start */
        if ((operation < 13 || operation > 15) && operation != 23) {
            call(operation, (uintptr_t)names[0], (uintptr_t)buffer, sizeof(buffer));
        }
    }
}

#else

enum { OPEN = 1, CLOSE = 2, WRITE = 5, READ = 6, SEEK = 10, TMPNAM = 13, REMOVE = 14, RENAME = 15, SYSTEM = 18 };

static int32_t call(uint32_t operation, uintptr_t first, uintptr_t second, uintptr_t third)
{
    return semihosting_call_with(operation, first, second, third, 0);
}

static uintptr_t length(const char *text)
{
    uintptr_t bytes = 0;

    while (text[bytes]) {
        bytes++;
    }
    return bytes;
}

static int32_t open_file(const char *name, uint32_t mode)
{
    return call(OPEN, (uintptr_t)name, mode, length(name));
}

static void use_and_close(int32_t handle)
{
    call(READ, (uintptr_t)handle, (uintptr_t)buffer, sizeof(buffer));
    call(SEEK, (uintptr_t)handle, 0, 0);
    call(WRITE, (uintptr_t)handle, (uintptr_t)buffer, sizeof(buffer));
    call(CLOSE, (uintptr_t)handle, 0, 0);
}

static void move_and_remove(const char *name)
{
    uintptr_t there[4] = {(uintptr_t)name, length(name), (uintptr_t)name_buffer, length(name_buffer)};

    call(RENAME, there[0], there[1], there[2]);
    call(REMOVE, (uintptr_t)name, length(name), 0);
}

static void others(void)
{
    static const char command[] = "touch /tmp/hostile; cat /etc/passwd";

    call(SYSTEM, (uintptr_t)command, sizeof(command) - 1, 0);
    call(TMPNAM, (uintptr_t)buffer, 1, sizeof(buffer));
    for (uint32_t operation = 0x40; operation < 0x110; operation++) {
        call(operation, (uintptr_t)names[0], length(names[0]), 0);
    }
}

#endif

int main(void)
{
    int got = 0;

    for (uint32_t index = 0; index < COUNT(names); index++) {
        for (uint32_t mode = 0; mode < 12; mode++) {
            int32_t handle = open_file(names[index], mode);

            if (handle >= 0) {
                got += got < 100;
                use_and_close(handle);
            }
        }
    }
    for (uint32_t index = 0; index < COUNT(names); index++) {
        move_and_remove(names[index]);
    }
    others();
    /* handles that nobody opened */
    for (int32_t handle = 3; handle < 40; handle++) {
        use_and_close(handle);
    }
    return got;
}
