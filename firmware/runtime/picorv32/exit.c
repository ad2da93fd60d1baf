/* The end of a program on PicoSoC: there is no debugger to ask. */
#include "exit.h"

#include "board.h"
#include "console.h"
#include "mmio.h"

/* The result port ends the run; it takes no status. */
#define RESULT_END 4u

_Noreturn void program_exit(int status)
{
    if (status == EXIT_OK) {
        console_flush();
        mmio_write(BOARD_RESULT_BASE, RESULT_END, 1);
    } else {
        console_print("exit status %d\n", (int32_t)status);
        console_flush();
    }
    for (;;) {
        /* With interrupts masked PicoRV32 stops for good here (its trap output): that is how a failure shows. */
        __asm__ volatile("ebreak");
    }
}
