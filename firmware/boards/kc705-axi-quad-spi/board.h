/* The KC705 system of XAPP797 (its table 3). BOARD_AXI_HZ is the clock of the processor, of the AXI interconnect and so
 * of the AXI timer, BOARD_MTIME_HZ that of mtime: board.toml has where they come from. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "kc705-axi-quad-spi"

/* CLINT: machine timer. */
#define BOARD_CLINT_BASE 0x44000000u

#define BOARD_UARTLITE_BASE 0x40600000u
#define BOARD_UARTLITE_BAUD 9600u

#define BOARD_INTC_BASE 0x41200000u
/* Inputs of the controller, by what drives them. */
#define BOARD_INTC_TIMER_INPUT 0u
#define BOARD_INTC_SPI_INPUT 2u
#define BOARD_INTC_DMA0_INPUT 3u
#define BOARD_INTC_DMA1_INPUT 4u
#define BOARD_TIMER_BASE 0x41C00000u

/* dma0 fills the transmit FIFO, dma1 drains the receive FIFO. */
#define BOARD_DMA0_BASE 0x44A00000u
#define BOARD_DMA1_BASE 0x44A10000u

#define BOARD_SPI_BASE 0xC4000000u
/* Read window of the Quad SPI core; there only in its XIP configuration. */
#define BOARD_XIP_BASE 0xC5000000u
#define BOARD_XIP_BYTES 0x01000000u

/* Objects in the AXI block RAM: not cached, so DMA and processor agree on their contents. */
#define BOARD_UNCACHED __attribute__((section(".bram")))
/* Objects in DDR that start-up neither clears nor loads, so no cache line of theirs is filled before use. */
#define BOARD_DMA_TARGET __attribute__((section(".dma_target"), aligned(64)))

#endif
