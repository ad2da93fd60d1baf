@ What compilers call by the names of the run-time ABI for the ARM architecture (IHI 0043).
    .syntax unified
    .thumb

    .macro function name
    .globl \name
    .type \name, %function
    .thumb_func
\name:
    .endm

@ { quotient in r0:r1, remainder in r2:r3 } __aeabi_uldivmod(dividend in r0:r1, divisor in r2:r3)
    .section .text.__aeabi_uldivmod, "ax", %progbits
    function __aeabi_uldivmod
    push    {r4, lr}
    sub     sp, sp, #16
    add     r4, sp, #8
    str     r4, [sp]
    bl      aeabi_uldiv
    ldrd    r2, r3, [sp, #8]
    add     sp, sp, #16
    pop     {r4, pc}

@ void __aeabi_memset(to, bytes, value), and the same for known alignments
    .section .text.__aeabi_memset, "ax", %progbits
    function __aeabi_memset
    function __aeabi_memset4
    function __aeabi_memset8
    mov     r3, r1
    mov     r1, r2
    mov     r2, r3
    b.w     memset

    .section .text.__aeabi_memclr, "ax", %progbits
    function __aeabi_memclr
    function __aeabi_memclr4
    function __aeabi_memclr8
    mov     r2, r1
    movs    r1, #0
    b.w     memset

    .section .text.__aeabi_memcpy, "ax", %progbits
    function __aeabi_memcpy
    function __aeabi_memcpy4
    function __aeabi_memcpy8
    b.w     memcpy

    .section .text.__aeabi_memmove, "ax", %progbits
    function __aeabi_memmove
    function __aeabi_memmove4
    function __aeabi_memmove8
    b.w     memmove
