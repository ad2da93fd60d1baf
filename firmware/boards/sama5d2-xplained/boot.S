@ Where the SoC's ROM code leaves off: the first instruction of the program, in SRAM. Supervisor mode, MMU and caches
@ off; asks for nothing else.
    .syntax unified
    .arm

    .section .boot.start, "ax"
    .globl _start
_start:
    cpsid   if, #0x13
    mrc     p15, 0, r0, c1, c0, 0       @ SCTLR: no MMU, caches, branch prediction, high vectors, alignment faults
    bic     r0, r0, #0x3000
    bic     r0, r0, #0x0800
    bic     r0, r0, #0x0007
    mcr     p15, 0, r0, c1, c0, 0
    isb

    @ Until the program proper has stacks: the end of SRAM.
    ldr     sp, =0x00220000
    bl      boot
    ldr     r0, =program_start
    bx      r0
    .ltorg
