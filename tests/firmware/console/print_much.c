/* Prints lines of 1 KiB by semihosting, in calls of 64 KiB less one line: APP_CALLS of them, or
   without end if that is 0. */
#include "call.h"

#define LINE_BYTES 1024u
#define LINES 63u

static char text[LINES * LINE_BYTES + 1];

int main(void)
{
    for (uint32_t at = 0; at < LINES * LINE_BYTES; at++) {
        text[at] = at % LINE_BYTES == LINE_BYTES - 1 ? '\n' : (char)('a' + at / LINE_BYTES % 26);
    }
    for (uint32_t call = 0; APP_CALLS == 0 || call < APP_CALLS; call++) {
        semihosting_call(SYS_WRITE0, (uintptr_t)text);
    }
    return 0;
}
