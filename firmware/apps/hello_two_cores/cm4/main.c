/* The M4 says hello, on its UART and to the A7, and sleeps. */
#include "armv7m.h"
#include "board.h"
#include "hello.h"
#include "stm32_ipcc.h"
#include "stm32_log.h"

int main(void)
{
    ipcc_start();
    log_start();
    log_info("hello from the M4\n");
#if APP_FAULT_UNDEFINED
    __asm__ volatile("udf #0");
#elif APP_FAULT_BUS
    *(volatile uint32_t *)0x60000000u = 0;
    armv7m_dsb();
#endif
    *(volatile uint32_t *)BOARD_SHARED_SRAM_BASE = HELLO_WORD;
    ipcc_send(HELLO_CHANNEL);
    for (;;) {
        armv7m_wait_for_interrupt();
    }
}
