/* QEMU's MPS2 board with the image of AN386 (docs/system/arm/mps2 in QEMU): memory at 0 and 0x20000000, as
 * boards/minimal-armv7m.dts has it. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "qemu-mps2-an386"

#endif
