# The exception vectors for Status.BEV = 0, from 0x80000000 on, and what is behind them: interrupts go to irq_handle;
# whatever else comes, nobody expects, and is reported.
#include "mips.h"

    .set noreorder
    .set noat
    .set mips32

    # The name of the kind for exception_report.
    .set EXCEPTION_GENERAL, 0
    .set EXCEPTION_TLB_REFILL, 1
    .set EXCEPTION_CACHE_ERROR, 2

    .section .vectors, "ax", @progbits
    .globl mips_vectors
mips_vectors:
    j       report
    li      $k0, EXCEPTION_TLB_REFILL

    # The core runs this one through kseg1: its cache is not to be trusted.
    .org    0x100
    j       report
    li      $k0, EXCEPTION_CACHE_ERROR

    .org    0x180
    j       report
    li      $k0, EXCEPTION_GENERAL

    .org    0x200
    j       interrupt
    nop

    # Makes the struct exception of exception.h on a stack of its own, whatever became of the program's. Status.EXL
    # stays set: no interrupt comes in between.
    .text
report:
    la      $k1, __exception_stack_top - 48
    sw      $k0, 16($k1)
    mfc0    $k0, MIPS_CP0_CAUSE
    sw      $k0, 20($k1)
    mfc0    $k0, MIPS_CP0_EPC
    sw      $k0, 24($k1)
    mfc0    $k0, MIPS_CP0_ERROREPC
    sw      $k0, 28($k1)
    mfc0    $k0, MIPS_CP0_BADVADDR
    sw      $k0, 32($k1)
    mfc0    $k0, MIPS_CP0_STATUS
    sw      $k0, 36($k1)
    sw      $ra, 40($k1)
    move    $sp, $k1
    j       exception_report
    addiu   $a0, $k1, 16

    # On the stack of the interrupted code: what a C function may overwrite, with its 16 bytes for arguments below.
    # Status.EXL is cleared, so that an exception in a handler is reported where it happens.
    .set FRAME, 104
interrupt:
    addiu   $sp, $sp, -FRAME
    sw      $at, 16($sp)
    sw      $v0, 20($sp)
    sw      $v1, 24($sp)
    sw      $a0, 28($sp)
    sw      $a1, 32($sp)
    sw      $a2, 36($sp)
    sw      $a3, 40($sp)
    sw      $t0, 44($sp)
    sw      $t1, 48($sp)
    sw      $t2, 52($sp)
    sw      $t3, 56($sp)
    sw      $t4, 60($sp)
    sw      $t5, 64($sp)
    sw      $t6, 68($sp)
    sw      $t7, 72($sp)
    sw      $t8, 76($sp)
    sw      $t9, 80($sp)
    sw      $ra, 84($sp)
    mfhi    $t0
    mflo    $t1
    mfc0    $t2, MIPS_CP0_EPC
    mfc0    $t3, MIPS_CP0_STATUS
    sw      $t0, 88($sp)
    sw      $t1, 92($sp)
    sw      $t2, 96($sp)
    sw      $t3, 100($sp)
    ori     $t3, $t3, MIPS_STATUS_EXL | MIPS_STATUS_IE
    xori    $t3, $t3, MIPS_STATUS_EXL | MIPS_STATUS_IE
    mtc0    $t3, MIPS_CP0_STATUS
    jal     irq_handle
    nop

    # Status as it was, with EXL: interrupts stay out until eret.
    lw      $t3, 100($sp)
    lw      $t2, 96($sp)
    lw      $t1, 92($sp)
    lw      $t0, 88($sp)
    mtc0    $t3, MIPS_CP0_STATUS
    ssnop
    ssnop
    ssnop
    mtc0    $t2, MIPS_CP0_EPC
    mtlo    $t1
    mthi    $t0
    lw      $at, 16($sp)
    lw      $v0, 20($sp)
    lw      $v1, 24($sp)
    lw      $a0, 28($sp)
    lw      $a1, 32($sp)
    lw      $a2, 36($sp)
    lw      $a3, 40($sp)
    lw      $t0, 44($sp)
    lw      $t1, 48($sp)
    lw      $t2, 52($sp)
    lw      $t3, 56($sp)
    lw      $t4, 60($sp)
    lw      $t5, 64($sp)
    lw      $t6, 68($sp)
    lw      $t7, 72($sp)
    lw      $t8, 76($sp)
    lw      $t9, 80($sp)
    lw      $ra, 84($sp)
    addiu   $sp, $sp, FRAME
    eret
