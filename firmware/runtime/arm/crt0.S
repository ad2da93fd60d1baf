@ Start of the program proper, in the memory that it was linked for: the boot stub has set up clocks and memories, the
@ ELF is loaded as a debugger's download or a flash programmer does it (.data is in place, .bss is not cleared). MMU and
@ caches are off.
    .syntax unified
    .arm

    .set MODE_FIQ, 0x11
    .set MODE_IRQ, 0x12
    .set MODE_SVC, 0x13
    .set MODE_ABT, 0x17
    .set MODE_UND, 0x1B

    .text
    .globl program_start
program_start:
    cpsid   if, #MODE_FIQ
    ldr     sp, =__fiq_stack_top
    cps     #MODE_IRQ
    ldr     sp, =__irq_stack_top
    cps     #MODE_ABT
    ldr     sp, =__abort_stack_top
    cps     #MODE_UND
    ldr     sp, =__undefined_stack_top
    cps     #MODE_SVC
    ldr     sp, =__stack_top

    @ Coprocessors 10 and 11 are there and enabled: a kernel may save floating-point registers.
    .fpu    vfpv4-d16
    mrc     p15, 0, r0, c1, c0, 2       @ CPACR
    orr     r0, r0, #0x00F00000
    mcr     p15, 0, r0, c1, c0, 2
    isb
    mov     r0, #0x40000000
    vmsr    fpexc, r0

    ldr     r0, =arm_vectors
    mcr     p15, 0, r0, c12, c0, 0      @ VBAR
    isb

    ldr     r0, =__bss_start
    ldr     r1, =__bss_end
    mov     r2, #0
1:  cmp     r0, r1
    strlo   r2, [r0], #4
    blo     1b

    bl      board_start
    bl      main
    @ main's value is the exit status.
    bl      program_exit
2:  b       2b
