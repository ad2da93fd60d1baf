/* How many cycles rows of loads and stores take that alternate between two addresses. */
#include "console.h"
#include "rows.h"

ROW(loads, "ldr r3, [r0]\nldr r4, [r1]")
ROW(stores, "str r3, [r0]\nstr r3, [r1]")

int main(void)
{
    static const struct {
        const char *name;
        uintptr_t first, second;
    } pairs[] = {
        {"one memory", FIRST, FIRST + 0x40},
        {"two memories", FIRST, SECOND},
        {"data bus", FIRST, ON_DATA_BUS},
    };

    count_cycles();
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        console_print("%s: %u %u\n", pairs[i].name, last(loads, pairs[i].first, pairs[i].second),
                      last(stores, pairs[i].first, pairs[i].second));
    }
    console_flush();
    return 0;
}
