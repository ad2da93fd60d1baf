/* The Nios system with an SD card: addresses and interrupts of boards/nios2-mmc.dts. BOARD_CLOCK_HZ is the clock of the
 * core, the fabric and all peripherals. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "nios2-mmc"

/* The card of drive 0 is on the MMC/SD SPI interface, that of drive 1 on Altera's SPI core. */
#define BOARD_MMC_BASE 0x10000000u
#define BOARD_SPI_BASE 0x10001000u

#define BOARD_TIMER_BASE 0x10002000u
/* Platform interrupts have the numbers from 16 on in mie and mcause. */
#define BOARD_TIMER_INTERRUPT 16u

#define BOARD_PERFORMANCE_COUNTER_BASE 0x10003000u

#define BOARD_JTAG_UART_BASE 0x10004000u

/* Objects that start-up neither clears nor loads. */
#define BOARD_DMA_TARGET __attribute__((section(".dma_target"), aligned(64)))

#endif
