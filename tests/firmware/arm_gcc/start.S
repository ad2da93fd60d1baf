@ From the debugger's jump to the entry up to main: vectors, stacks, the floating-point unit, .bss. In the instruction
@ set that GCC is told to build for; the vectors are A32, as SCTLR.TE is 0.
    .syntax unified

    .set MODE_SVC, 0x13
    .set MODE_UND, 0x1B

    .section .vectors, "ax"
    .arm
    .balign 32
vectors:
    b       .
    ldr     pc, =on_undefined
    ldr     pc, =on_svc
    b       .
    b       .
    nop
    b       .
    b       .
    .ltorg

    .text
#ifdef __thumb__
    .thumb
    .thumb_func
#endif
    .globl  _start
    .type   _start, %function
_start:
    cpsid   if, #MODE_UND
    ldr     sp, =undefined_stack_top
    cps     #MODE_SVC
    ldr     sp, =stack_top
    ldr     r0, =vectors
    mcr     p15, 0, r0, c12, c0, 0      @ VBAR
    mrc     p15, 0, r0, c1, c0, 2       @ CPACR: coprocessors 10 and 11
    orr     r0, r0, #0x00F00000
    mcr     p15, 0, r0, c1, c0, 2
    isb
    mov     r0, #0x40000000             @ FPEXC.EN
    vmsr    fpexc, r0

    ldr     r0, =bss_start
    ldr     r1, =bss_end
    movs    r2, #0
    b       2f
1:  str     r2, [r0], #4
2:  cmp     r0, r1
    blo     1b

    bl      main
    b       .
    .size   _start, . - _start
