/*
 * The start of a small kernel for tests: an Image, or with ZIMAGE a zImage, whose header has its magic number at 0x24.
 * The kernel runs at any address; its stack ends 64 KiB after its start.
 */
    .syntax unified
    .arch armv7-a
    .arm
    .section .start, "ax", %progbits
    .globl _start
_start:
#ifdef ZIMAGE
    .rept   8
    mov     r0, r0
    .endr
    b       begin
    .word   0x016f2818, 0, image_end - _start, 0x04030201
begin:
#endif
    adr     r3, _start
    add     sp, r3, #0x10000
    b       kernel_main

    .globl psci
psci:
    .arch_extension sec
    smc     #0
    bx      lr
