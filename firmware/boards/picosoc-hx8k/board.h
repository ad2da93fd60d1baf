/* PicoSoC on the iCE40-HX8K breakout board (picosoc/hx8kdemo.v of YosysHQ/picorv32): boards/picosoc-hx8k.dts. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "picosoc-hx8k"

/* MEM_WORDS of its RTL, in bytes. */
#define BOARD_SRAM_BYTES 0x400

#include "picorv32/picosoc.h"

#endif
