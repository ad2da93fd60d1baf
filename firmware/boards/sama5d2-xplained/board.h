/* SAMA5D2 Xplained Ultra: addresses and interrupt numbers (SAMA5D2 Series data sheet: Memory Mapping, Peripheral
 * Identifiers). Clocks: what the boot stub makes of the crystal, BOARD_MAIN_XTAL_HZ, is BOARD_CORE_HZ of the core,
 * BOARD_MCK_HZ of the 64-bit matrix with memories and QSPI, and BOARD_PERIPHERAL_HZ of the 32-bit matrix with the
 * peripherals. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "sama5d2-xplained"

#define BOARD_SRAM_BASE 0x00200000u
#define BOARD_DDR_BASE 0x20000000u
/* The window of the flash at QSPI0. */
#define BOARD_QSPI_MEMORY_BASE 0xD0000000u

#define BOARD_L2CC_BASE 0x00A00000u
#define BOARD_MPDDRC_BASE 0xF000C000u
#define BOARD_PMC_BASE 0xF0014000u
#define BOARD_QSPI_BASE 0xF0020000u
#define BOARD_TC_BASE 0xF800C000u
#define BOARD_UART_BASE 0xF8020000u
#define BOARD_SFR_BASE 0xF8030000u
#define BOARD_RSTC_BASE 0xF8048000u
#define BOARD_SAIC_BASE 0xF803C000u
#define BOARD_SHDWC_BASE 0xF8048010u
#define BOARD_PIT_BASE 0xF8048030u
#define BOARD_WDT_BASE 0xF8048040u
#define BOARD_AIC_BASE 0xFC020000u
#define BOARD_PIO_BASE 0xFC038000u

/* Peripheral identifiers: the numbers of clocks and of interrupts. */
#define BOARD_ID_PIT 3u
#define BOARD_ID_MPDDRC 13u
#define BOARD_ID_PIO 18u
#define BOARD_ID_UART 25u
#define BOARD_ID_TC 35u
/* The second block of timer channels, which nothing here uses: its interrupt is free for software. */
#define BOARD_ID_SOFTWARE_INTERRUPT 36u
#define BOARD_ID_QSPI 52u

#define BOARD_UART_BAUD 115200u

/* Code and constants of the boot stub: in SRAM, whatever memory the rest is in. */
#define BOARD_BOOT_CODE __attribute__((section(".boot.text")))
#define BOARD_BOOT_DATA __attribute__((section(".boot.rodata")))

/* Objects that start-up neither clears nor loads. */
#define BOARD_NOINIT __attribute__((section(".noinit"), aligned(64)))

#endif
