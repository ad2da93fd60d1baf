@ What compilers call by the names of the run-time ABI for the ARM architecture (IHI 0043), where it is no C function's
@ calling convention.
    .syntax unified
    .arm
    .text

@ { quotient in r0:r1, remainder in r2:r3 } __aeabi_uldivmod(dividend in r0:r1, divisor in r2:r3)
    .globl __aeabi_uldivmod
__aeabi_uldivmod:
    push    {r4, lr}
    sub     sp, sp, #16
    add     r4, sp, #8
    str     r4, [sp]
    bl      aeabi_uldiv
    ldrd    r2, r3, [sp, #8]
    add     sp, sp, #16
    pop     {r4, pc}

@ void __aeabi_memset(to, bytes, value), and the same for known alignments
    .globl __aeabi_memset, __aeabi_memset4, __aeabi_memset8
__aeabi_memset:
__aeabi_memset4:
__aeabi_memset8:
    mov     r3, r1
    mov     r1, r2
    mov     r2, r3
    b       memset

    .globl __aeabi_memclr, __aeabi_memclr4, __aeabi_memclr8
__aeabi_memclr:
__aeabi_memclr4:
__aeabi_memclr8:
    mov     r2, r1
    mov     r1, #0
    b       memset

    .globl __aeabi_memcpy, __aeabi_memcpy4, __aeabi_memcpy8
__aeabi_memcpy:
__aeabi_memcpy4:
__aeabi_memcpy8:
    b       memcpy

    .globl __aeabi_memmove, __aeabi_memmove4, __aeabi_memmove8
__aeabi_memmove:
__aeabi_memmove4:
__aeabi_memmove8:
    b       memmove
