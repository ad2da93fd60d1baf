# Start-up of a PicoRV32 that runs from flash in place: what belongs into SRAM is copied there. The core has no CSRs but
# counters and starts with all interrupts masked.
#include "board.h"

    # For the linker's script.
    .globl __sram_bytes
    .set __sram_bytes, BOARD_SRAM_BYTES

    .section .text.start, "ax"
    .globl _start
_start:
    la      sp, __stack_top

    la      t0, __sram_start
    la      t1, __sram_end
    la      t2, __sram_load
1:  bgeu    t0, t1, 2f
    lw      t3, 0(t2)
    sw      t3, 0(t0)
    addi    t2, t2, 4
    addi    t0, t0, 4
    j       1b

2:  la      t0, __bss_start
    la      t1, __bss_end
3:  bgeu    t0, t1, 4f
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       3b

4:  call    main
    # main's value is the exit status.
    call    program_exit
5:  j       5b
