/* QEMU's RISC-V virt machine (docs/system/riscv/virt in QEMU; memory map of hw/riscv/virt.c). */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_NAME "qemu-virt"

/* CLINT: machine timer. */
#define BOARD_CLINT_BASE 0x02000000u
#define BOARD_MTIME_HZ 10000000u

#define BOARD_NS16550_BASE 0x10000000u

#define BOARD_DMA_TARGET __attribute__((section(".dma_target"), aligned(64)))

#endif
