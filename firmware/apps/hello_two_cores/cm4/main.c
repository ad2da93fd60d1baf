/* The M4 says hello, on its UART and to the A7, and sleeps. */
#include "armv7m.h"
#include "board.h"
#include "hello.h"
#include "resource_table.h"
#include "stm32_ipcc.h"
#include "stm32_log.h"

/* It needs nothing of the A7's. */
__attribute__((section(".resource_table"), used)) static struct resource_table_header resources = {.ver = 1};

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
