/* The common part of all boards with a PicoSoC (picosoc.v of YosysHQ/picorv32): addresses are those of
 * boards/picosoc.dtsi. BOARD_CLOCK_HZ is its one clock. */
#ifndef PICOSOC_H
#define PICOSOC_H

#define BOARD_SPIMEMIO_BASE 0x02000000u
#define BOARD_SIMPLEUART_BASE 0x02000004u
#define BOARD_SIMPLEUART_BAUD 115200u
#define BOARD_RESULT_BASE 0x03000000u

/* Functions that start-up copies to SRAM: they run while the flash can't be read. They may call only their like, and
   use no constants that the compiler keeps in memory. */
#define BOARD_SRAM_CODE __attribute__((section(".sram_text"), noinline))

#endif
