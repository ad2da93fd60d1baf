/* The end of a program: the SAMA5D2's shutdown and reset controllers (data sheet, chapters Shutdown Controller and
 * Reset Controller). */
#include "arm.h"
#include "board.h"
#include "console.h"
#include "exit.h"
#include "mmio.h"

#define SHDW_CR 0x00u
#define SHDW_CR_KEY (0xA5u << 24)
#define SHDW_CR_SHDW (1u << 0)

#define RSTC_CR 0x00u
#define RSTC_CR_KEY (0xA5u << 24)
#define RSTC_CR_PROCRST (1u << 0)

_Noreturn void program_exit(int status)
{
    arm_disable_interrupts();
    if (status == EXIT_OK) {
        console_flush();
        mmio_write(BOARD_SHDWC_BASE, SHDW_CR, SHDW_CR_KEY | SHDW_CR_SHDW);
    } else {
        console_print("exit status %d\n", status);
        console_flush();
        mmio_write(BOARD_RSTC_BASE, RSTC_CR, RSTC_CR_KEY | RSTC_CR_PROCRST);
    }
    /* Both take some slow clocks. */
    for (;;) {
        arm_wait_for_interrupt();
    }
}
