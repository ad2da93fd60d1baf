# Start-up. The ELF is loaded as a debugger's download does it: .data and the vectors are in place, .bss is not cleared.
# The core is as it leaves reset: error level, boot vectors, caches with whatever tags.
#include "board.h"
#include "mips.h"

    .set noreorder
    .set mips32

    .section .text.start, "ax", @progbits
    .globl _start
_start:
    # Leaves the error level; exceptions still go to the boot ROM.
    li      $t0, MIPS_STATUS_CU0 | MIPS_STATUS_BEV
    mtc0    $t0, MIPS_CP0_STATUS
    ssnop
    ssnop
    ssnop

    # From kseg1: the caches are emptied below the code that does it.
    la      $t0, initialise_caches
    lui     $t1, (MIPS_KSEG1 - MIPS_KSEG0) >> 16
    or      $t0, $t0, $t1
    jr      $t0
    nop

    # Every line gets an empty tag. Nothing is written back: a line that is dirty after reset holds nothing.
initialise_caches:
    mtc0    $zero, MIPS_CP0_TAGLO
    mtc0    $zero, MIPS_CP0_TAGHI
    lui     $t0, MIPS_KSEG0 >> 16
    addiu   $t1, $t0, BOARD_CACHE_BYTES
1:  cache   MIPS_CACHE_INDEX_STORE_TAG_I, 0($t0)
    cache   MIPS_CACHE_INDEX_STORE_TAG_D, 0($t0)
    addiu   $t0, $t0, BOARD_CACHE_LINE_BYTES
    bne     $t0, $t1, 1b
    nop
    sync
    mfc0    $t0, MIPS_CP0_CONFIG
    ori     $t0, $t0, MIPS_CONFIG_K0_MASK
    xori    $t0, $t0, MIPS_CONFIG_K0_MASK ^ MIPS_CONFIG_K0_CACHEABLE
    mtc0    $t0, MIPS_CP0_CONFIG
    ssnop
    ssnop
    ssnop
    la      $t0, start_cached
    jr      $t0
    nop

start_cached:
    la      $sp, __stack_top - 16
    la      $t0, __bss_start
    la      $t1, __bss_end
    beq     $t0, $t1, 3f
    nop
2:  addiu   $t0, $t0, 4
    bne     $t0, $t1, 2b
    sw      $zero, -4($t0)

    # Exceptions go to the program's vectors, interrupts, which are still out, to one of their own.
3:  lui     $t0, MIPS_CAUSE_IV >> 16
    mtc0    $t0, MIPS_CP0_CAUSE
    li      $t0, MIPS_STATUS_CU0 | MIPS_STATUS_IM2
    mtc0    $t0, MIPS_CP0_STATUS
    ssnop
    ssnop
    ssnop

    jal     board_start
    nop
    jal     main
    nop
    # main's value is the exit status.
    jal     program_exit
    move    $a0, $v0
4:  b       4b
    nop
