/* Writes its last line to the UART and ends without waiting for it: as APP_END says. */
#include "board.h"
#include "console.h"
#include "mmio.h"

#define BY_SEMIHOSTING 0
#define BY_SHUTDOWN 1
#define BY_RESET 2
#define BY_HIBERNATION 3
#define BY_FAULT 4
#define NEVER 5

#if APP_END == BY_SEMIHOSTING
#include "call.h"
#endif

static void end(void)
{
#if APP_END == BY_SEMIHOSTING
    semihosting_call(SYS_EXIT, APPLICATION_EXIT);
#elif APP_END == BY_SHUTDOWN
    mmio_write(BOARD_SHDWC_BASE, 0, 0xA5000001u);
#elif APP_END == BY_RESET
    mmio_write(BOARD_RSTC_BASE, 0, 0xA5000001u);
#elif APP_END == BY_HIBERNATION
    mmio_write(BOARD_RTC_BASE, 0x20, 1);
#elif APP_END == BY_FAULT
    __asm__ volatile("csrw mtvec, zero\n.word 0");
#endif
}

int main(void)
{
    console_print("the last line\n");
    end();
    for (;;) {
    }
}
