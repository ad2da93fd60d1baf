@ QEMU enters the ELF in supervisor mode, MMU and caches off: nothing has to be set up before the program proper.
    .syntax unified
    .arm

    .section .boot.start, "ax"
    .globl _start
_start:
    ldr     r0, =program_start
    bx      r0
    .ltorg

    .text
    .globl board_start
board_start:
    bx      lr
