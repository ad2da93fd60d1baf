/* PicoSoC on the iCEBreaker board (picosoc/icebreaker.v of YosysHQ/picorv32): boards/picosoc-icebreaker.dts. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "picosoc-icebreaker"

/* MEM_WORDS of its RTL, in bytes. */
#define BOARD_SRAM_BYTES 0x20000

#include "picorv32/picosoc.h"

#endif
