/* Ben NanoNote: addresses and interrupt numbers of its JZ4720, a JZ4740 in a smaller package (JZ4740 programming
 * manual: Memory Map, Interrupt Controller). Registers are reached through kseg1. */
#ifndef BOARD_H
#define BOARD_H

#ifndef BOARD_NAME
#define BOARD_NAME "ben-nanonote"
#endif

#define BOARD_CPM_BASE 0xB0000000u
#define BOARD_INTC_BASE 0xB0001000u
#define BOARD_TCU_BASE 0xB0002000u
#define BOARD_WDT_BASE 0xB0002000u
#define BOARD_RTC_BASE 0xB0003000u
#define BOARD_GPIO_BASE 0xB0010000u
#define BOARD_UART0_BASE 0xB0030000u
#define BOARD_SSI_BASE 0xB0043000u

/* Sources of the interrupt controller. */
#define BOARD_IRQ_UART0 9u
#define BOARD_IRQ_SSI 16u
#define BOARD_IRQ_TCU2 21u /* channels 2 to 7 */
#define BOARD_IRQ_TCU1 22u
#define BOARD_IRQ_TCU0 23u
#define BOARD_IRQ_GPIO0 28u /* port A; the others are below: port D is 25 */

/* 12 MHz / 16 / 13 is 0.16 % above; 115200 would be 8 % off. */
#define BOARD_UART_BAUD 57600u

/* Both caches have 16 KB, lines of 32 bytes. */
#define BOARD_CACHE_BYTES 16384
#define BOARD_CACHE_LINE_BYTES 32

#endif
