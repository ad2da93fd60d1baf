/* QEMU's Arm virt machine (docs/system/arm/virt in QEMU; memory map of hw/arm/virt.c). */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "qemu-virt-arm"

#define BOARD_PL011_BASE 0x09000000u

#endif
