/* Stack and main; what main returns is the program's status. */
    .section .start, "ax", %progbits
#if defined(__mips__)
    .set noreorder
    .globl _start
_start:
    la      $sp, stack_top - 32
    jal     main
    nop
    jal     host_exit
    move    $a0, $v0
#elif defined(__riscv)
    .globl _start
_start:
    la      sp, stack_top
    call    main
    call    host_exit
#elif __ARM_ARCH_PROFILE == 'M'
    .syntax unified
    .word   stack_top
    .word   _start
    .globl _start
    .thumb_func
    .type   _start, %function
_start:
    bl      main
    bl      host_exit
#else
    .globl _start
_start:
    ldr     sp, =stack_top
    bl      main
    bl      host_exit
#endif
