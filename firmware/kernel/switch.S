# void switch_to(struct thread_context *from, const struct thread_context *to): leaves one thread in the middle of its
# call of this function and goes on in the middle of another's. With interrupts kept out.
#include "mips.h"

    .set noreorder
    .set mips32

    # struct thread_context of kernel.h.
    .set S0, 0
    .set SP, 32
    .set FP, 36
    .set RA, 40
    .set STATUS, 44

    .section .text.switch_to, "ax", @progbits
    .globl switch_to
switch_to:
    mfc0    $t0, MIPS_CP0_STATUS
    sw      $s0, S0($a0)
    sw      $s1, S0 + 4($a0)
    sw      $s2, S0 + 8($a0)
    sw      $s3, S0 + 12($a0)
    sw      $s4, S0 + 16($a0)
    sw      $s5, S0 + 20($a0)
    sw      $s6, S0 + 24($a0)
    sw      $s7, S0 + 28($a0)
    sw      $sp, SP($a0)
    sw      $fp, FP($a0)
    sw      $ra, RA($a0)
    sw      $t0, STATUS($a0)

    lw      $s0, S0($a1)
    lw      $s1, S0 + 4($a1)
    lw      $s2, S0 + 8($a1)
    lw      $s3, S0 + 12($a1)
    lw      $s4, S0 + 16($a1)
    lw      $s5, S0 + 20($a1)
    lw      $s6, S0 + 24($a1)
    lw      $s7, S0 + 28($a1)
    lw      $sp, SP($a1)
    lw      $fp, FP($a1)
    lw      $ra, RA($a1)
    lw      $t0, STATUS($a1)
    mtc0    $t0, MIPS_CP0_STATUS
    ssnop
    ssnop
    ssnop
    jr      $ra
    nop
