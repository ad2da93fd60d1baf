/*
 * What boot loaders leave when they start Linux on a 32-bit Arm core (Documentation/arch/arm/booting.rst): SVC mode,
 * interrupts, MMU and data cache off, r0 = 0, r1 = ~0 for "see the devicetree", r2 = the devicetree. Beyond that, as
 * TF-A does: ACTLR.SMP, without which a Cortex-A7 caches no data, branch prediction and the instruction cache on, and
 * registers of devices that Linux takes as they are, such as those of the console.
 *
 * A table follows the code: the kernel's address, the devicetree's, and pairs of a register's address and its value,
 * up to an address of 0. The code runs at any address.
 */
    .syntax unified
    .arch armv7-a
    .arm
    .section .text, "ax", %progbits
    .globl _start
_start:
    cpsid   aif
    mrc     p15, 0, r0, c1, c0, 1           /* ACTLR */
    orr     r0, r0, #(1 << 6)               /* SMP */
    mcr     p15, 0, r0, c1, c0, 1
    mrc     p15, 0, r0, c1, c0, 0           /* SCTLR */
    orr     r0, r0, #(1 << 11)              /* Z */
    orr     r0, r0, #(1 << 12)              /* I */
    mcr     p15, 0, r0, c1, c0, 0
    isb
    adr     r3, table
    ldmia   r3!, {r4, r5}
next:
    ldmia   r3!, {r0, r1}
    cmp     r0, #0
    strne   r1, [r0]
    bne     next
    mov     r0, #0
    mvn     r1, #0
    mov     r2, r5
    bx      r4
table:
