@ Where TF-A leaves off: the first instruction of the program, in DDR3L. Clocks, memory and the generic timer's
@ frequency are set; MMU and caches off.
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

    @ ACTLR.SMP: before caches and MMU are turned on (Cortex-A7 TRM, 4.3.31).
    mrc     p15, 0, r0, c1, c0, 1
    tst     r0, #0x40
    orreq   r0, r0, #0x40
    mcreq   p15, 0, r0, c1, c0, 1
    isb

    @ The instruction cache needs no MMU: without it each instruction comes from the DDR3L.
    mov     r0, #0
    mcr     p15, 0, r0, c7, c5, 0       @ ICIALLU
    mcr     p15, 0, r0, c7, c5, 6       @ BPIALL
    dsb
    isb
    mrc     p15, 0, r0, c1, c0, 0
    orr     r0, r0, #0x1000
    mcr     p15, 0, r0, c1, c0, 0
    isb

    ldr     r0, =program_start
    bx      r0
    .ltorg
