# Start-up. The ELF is loaded as a debugger's download does it: .data is in place, .bss is not cleared.
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      sp, __stack_top
    la      t0, trap_entry
    csrw    mtvec, t0
    csrw    mie, zero

    la      t0, __bss_start
    la      t1, __bss_end
1:  bgeu    t0, t1, 2f
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       1b

2:  call    main
    # main's value is the exit status.
    call    program_exit
3:  j       3b
