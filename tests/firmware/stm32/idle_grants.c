/* How many cycles rows of loads and stores take in two memories: with the bus idle between them, and not. */
#include "console.h"
#include "rows.h"

ROW(loads_apart, "ldr r3, [r0]\nnop")
ROW(loads_in_a_row, "ldr r3, [r0]\nldr r4, [r0, #4]")
ROW(loads_written_back, "ldr r3, [r0], #4\nldr r4, [r0], #4")
ROW(loads_behind_stores, "str r3, [r0]\nnop\nldr r4, [r0]\nnop")
ROW(loads_right_behind_stores, "str r3, [r0]\nldr r4, [r0]\nnop")
ROW(stores_apart, "ldr r4, [r0]\nnop\nstr r3, [r0]\nnop")
ROW(stores_in_pairs, "ldr r4, [r0]\nnop\nstr r3, [r0]\nstr r3, [r0, #4]\nnop")
ROW(loads_of_several, "ldmia r0, {r3, r4}\nnop")
ROW(stores_of_several, "ldr r4, [r0]\nnop\nstmia r1!, {r3, r4}\nnop")
ROW(skipped_loads, "cmp r0, #0\nit eq\nldreq r3, [r0]\nnop")
ROW(conditional_loads, "cmp r0, #0\nit ne\nldrne r3, [r0]\nnop")

int main(void)
{
    static const struct {
        const char *name;
        row *row;
    } rows[] = {
        {"loads apart", loads_apart},
        {"loads in a row", loads_in_a_row},
        {"loads written back", loads_written_back},
        {"loads after stores", loads_behind_stores},
        {"loads right after stores", loads_right_behind_stores},
        {"stores apart", stores_apart},
        {"stores in pairs", stores_in_pairs},
        {"loads of several", loads_of_several},
        {"stores of several", stores_of_several},
        {"skipped loads", skipped_loads},
        {"conditional loads", conditional_loads},
    };

    count_cycles();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        console_print("%s: %u %u\n", rows[i].name, last(rows[i].row, AT_ONCE, AT_ONCE + 0x40),
                      last(rows[i].row, GRANTED, GRANTED + 0x40));
    }
    console_flush();
    return 0;
}
