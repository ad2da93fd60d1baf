/* The M4's formatted output on the machine that runs the tests: one line a case, written with the stream's own
 * buffering, then how often it wrote. */
#include "format.h"

#include <unistd.h>

static int writes;

int stream_write(const char *text, int count)
{
    writes++;
    return (int)write(1, text, (size_t)count);
}

int main(void)
{
    format_log("[%05ld.%03ld][INFO ]UART0: %d/%d\n", 3L, 41L, 992, -2048);
    format_log("%d|%5d|%-5d|%05d|%+d|% d|%.3d|%i\n", -7, -7, -7, -7, 7, 7, 7, 0);
    format_log("%u|%x|%X|%08x|%lu|%.0u|\n", 4294967295u, 0xBEEFu, 0xBEEFu, 0x1Fu, 4000000000ul, 5u);
    format_log("%s|%5s|%-5s|%.2s|%c|%3c|%%|\n", "text", "ab", "ab", "abcdef", 'x', 'y');
    format_log("%d|%d\n", 2147483647, (int)(-2147483647 - 1));
    for (int i = 0; i < 1030; i++) {
        format_log("%c", 'a' + i % 26);
    }
    format_log("\n%d writes\n", writes + 1);
    return 0;
}
