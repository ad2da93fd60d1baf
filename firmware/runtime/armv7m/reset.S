@ The first instruction of an ARMv7-M program. The stack is that of the vector table; the loader has put .data where it
@ is used.
    .syntax unified
    .thumb

    .section .text.Reset_Handler, "ax", %progbits
    .globl Reset_Handler
    .type Reset_Handler, %function
    .thumb_func
Reset_Handler:
    @ CPACR: full access to the floating-point unit.
    ldr     r0, =0xE000ED88
    ldr     r1, [r0]
    orr     r1, r1, #0x00F00000
    str     r1, [r0]
    dsb
    isb

    ldr     r0, =__bss_start
    ldr     r1, =__bss_end
    movs    r2, #0
    b       2f
1:  str     r2, [r0], #4
2:  cmp     r0, r1
    blo     1b

    bl      board_start
    bl      main
    @ main's value is the exit status.
    bl      program_exit
3:  b       3b
    .ltorg
    .size Reset_Handler, . - Reset_Handler
