/* The board for first steps: core, memory, console. Addresses are those of boards/minimal-rv32.dts. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "minimal-rv32"

/* CLINT: machine timer. */
#define BOARD_CLINT_BASE 0x02000000u

#define BOARD_UARTLITE_BASE 0x10000000u
#define BOARD_UARTLITE_BAUD 115200u

#define BOARD_DMA_TARGET __attribute__((section(".dma_target"), aligned(64)))

#endif
