/* The board for first steps with a Cortex-M4: core, memories, console. Addresses are those of
 * boards/minimal-armv7m.dts. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "minimal-armv7m"

#define BOARD_UARTLITE_BASE 0x40000000u
#define BOARD_UARTLITE_BAUD 115200u

#endif
