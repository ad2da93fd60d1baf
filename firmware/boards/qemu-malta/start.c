/* Nothing has to be set up, and no interrupt is ever enabled. */
#include "console.h"
#include "exit.h"

void board_start(void);
void irq_handle(void);

void board_start(void)
{
}

void irq_handle(void)
{
    console_print("interrupt, and none is enabled\n");
    program_exit(EXIT_FAILED);
}
