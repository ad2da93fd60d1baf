# A kernel in little, and a program for user mode whose pages it maps as they are touched: a TLB refill handler over
# linear page tables, one table an address space; pages that become valid with the first access and writable with the
# first store; two system calls. Any other exception is counted, and its instruction skipped.
#
# Physical memory: 0x4000 counters by exception code, 0x4080 refills, 0x4100 the handlers' save area, 0x10000 page
# tables of 8 KiB for addresses below 8 MiB, 0x40000 the program's 64 pages, 0x80000 the first of the other address
# space.

    .set noreorder
    .set noat
    .set mips32

    .equ KSEG0_HIGH, 0x8000
    .equ TABLES_HIGH, 0x8001
    .equ COUNTERS, 0x4000
    .equ REFILLS, 0x4080
    .equ SAVED, 0x4100
    .equ DATA_PAGES, 64
    # Cached; valid; may be written.
    .equ LO_C, 3 << 3
    .equ LO_V, 1 << 1
    .equ LO_D, 1 << 2
    .equ TLB_MODIFIED, 1 << 2
    .equ TLB_STORE, 3 << 2
    .equ SYSCALL, 8 << 2
    .equ CALL_EXIT, 0
    .equ CALL_SPACE, 1

# ---- Vectors

    .section .vectors, "ax", @progbits
refill:
    mfc0    $k0, $4
    mfc0    $k1, $10
    # Context has the number of the pair at bit 4, and the base in its top bits.
    sll     $k0, $k0, 9
    srl     $k0, $k0, 10
    andi    $k1, $k1, 0xff
    sll     $k1, $k1, 13
    addu    $k0, $k0, $k1
    lui     $k1, TABLES_HIGH
    addu    $k0, $k0, $k1
    lw      $k1, 0($k0)
    lw      $k0, 4($k0)
    mtc0    $k1, $2
    mtc0    $k0, $3
    lui     $k0, KSEG0_HIGH
    lw      $k1, REFILLS($k0)
    addiu   $k1, $k1, 1
    sw      $k1, REFILLS($k0)
    tlbwr
    eret

    .org    0x180
    j       general
    lui     $k0, KSEG0_HIGH

# ---- The kernel

    .text
    .globl _start
_start:
    lui     $sp, KSEG0_HIGH
    # Data: present, but neither valid nor writable. From 0x500000 on.
    lui     $t0, TABLES_HIGH
    ori     $t0, $t0, (0x500000 >> 13) << 3
    li      $t1, 0x40000 >> 6 | LO_C
    li      $t2, DATA_PAGES
1:  sw      $t1, 0($t0)
    addiu   $t1, $t1, 0x1000 >> 6
    addiu   $t2, $t2, -1
    bnez    $t2, 1b
    addiu   $t0, $t0, 4
    # The other space has one such page, which begins with a word of its own.
    lui     $t0, TABLES_HIGH
    ori     $t0, $t0, 0x2000 + ((0x500000 >> 13) << 3)
    li      $t1, 0x80000 >> 6 | LO_C
    sw      $t1, 0($t0)
    li      $t0, 0x80080000
    li      $t1, 0xabcd
    sw      $t1, 0($t0)
    # The program's code, to be read only, at 0x400000 in both.
    la      $t1, user
    sll     $t1, $t1, 3
    srl     $t1, $t1, 3 + 6
    ori     $t1, $t1, LO_C | LO_V
    lui     $t0, TABLES_HIGH
    ori     $t0, $t0, (0x400000 >> 13) << 3
    sw      $t1, 0($t0)
    sw      $t1, 0x2000($t0)
    # A base that has to be masked off.
    lui     $t0, 0xff80
    mtc0    $t0, $4
    mtc0    $zero, $6
    mtc0    $zero, $10
    mtc0    $zero, $5
    # User mode, once EXL is cleared; no boot vectors, no error level.
    li      $t0, 0x12
    mtc0    $t0, $12
    lui     $t0, 0x40
    mtc0    $t0, $14
    ssnop
    ssnop
    eret

general:
    sw      $t0, SAVED($k0)
    sw      $t1, SAVED + 4($k0)
    sw      $t2, SAVED + 8($k0)
    mfc0    $t0, $13
    andi    $t0, $t0, 0x7c
    addu    $t1, $k0, $t0
    lw      $t2, COUNTERS($t1)
    addiu   $t2, $t2, 1
    sw      $t2, COUNTERS($t1)
    li      $t1, SYSCALL
    beq     $t0, $t1, call
    li      $t2, LO_V | LO_D
    li      $t1, TLB_MODIFIED
    beq     $t0, $t1, allow
    sltiu   $t1, $t0, TLB_STORE + 4
    bnez    $t1, allow
    li      $t2, LO_V

# Behind the instruction; none of them is in a delay slot.
skip:
    mfc0    $t0, $14
    addiu   $t0, $t0, 4
    mtc0    $t0, $14
return:
    lw      $t0, SAVED($k0)
    lw      $t1, SAVED + 4($k0)
    lw      $t2, SAVED + 8($k0)
    eret

# The page's flags get those of $t2, in the table and in the TLB.
allow:
    mfc0    $k1, $10
    andi    $k1, $k1, 0xff
    sll     $k1, $k1, 13
    mfc0    $t0, $8
    srl     $t0, $t0, 12
    sll     $t0, $t0, 2
    addu    $k1, $k1, $t0
    lui     $t0, TABLES_HIGH
    addu    $k1, $k1, $t0
    lw      $t0, 0($k1)
    # A page that is not there: the access is skipped.
    beqz    $t0, skip
    or      $t0, $t0, $t2
    sw      $t0, 0($k1)
    srl     $k1, $k1, 3
    sll     $k1, $k1, 3
    lw      $t0, 0($k1)
    lw      $t1, 4($k1)
    mtc0    $t0, $2
    mtc0    $t1, $3
    tlbp
    ssnop
    tlbwi
    b       return
    nop

# $v0: the call, $a0: its parameter.
call:
    li      $t1, CALL_SPACE
    bne     $v0, $t1, exit
    nop
    mtc0    $a0, $10
    b       skip
    nop
exit:
    # UHI's exit, with the status $a0.
    li      $t9, 1
    sdbbp   1

# ---- The program, at 0x400000 where it runs: branches are relative

    .section .user, "ax", @progbits
    .balign 0x1000
user:
    # Each page gets its number.
    lui     $s0, 0x50
    li      $s1, DATA_PAGES
    move    $t0, $s0
    li      $t1, 1
1:  sw      $t1, 0($t0)
    addiu   $t0, $t0, 0x1000
    bne     $t1, $s1, 1b
    addiu   $t1, $t1, 1
    # They are more than the TLB holds with the code's: some are filled in again.
    li      $s2, 0
    li      $t2, 2
2:  move    $t0, $s0
    move    $t1, $s1
3:  lw      $t3, 0($t0)
    addiu   $t1, $t1, -1
    addu    $s2, $s2, $t3
    bnez    $t1, 3b
    addiu   $t0, $t0, 0x1000
    addiu   $t2, $t2, -1
    bnez    $t2, 2b
    nop
    # A miss in a delay slot: the branch is run again, too. Registers that do not change tell how often each came by.
    li      $t2, DATA_PAGES / 2
    move    $t0, $s0
4:  addiu   $t0, $t0, 0x2000
    addiu   $t2, $t2, -1
    bnez    $t2, 4b
    lw      $t3, -0x2000($t0)
    addu    $s2, $s2, $t3
    # What user mode may not do.
    li      $t3, 0
    lui     $t0, 0x8000
    lw      $t3, 0($t0)
    sw      $t3, 0($t0)
    lui     $t0, 0xa000
    lw      $t3, 0($t0)
    mfc0    $t3, $12
    tlbwi
    cache   0x15, 0($s0)
    wait
    eret
    # What nobody may.
    lw      $t3, 2($s0)
    sh      $t3, 1($s0)
    lw      $t3, 0x0400($zero)
    addu    $s2, $s2, $t3
    # The other space has another page at the same address, and back again.
    li      $v0, CALL_SPACE
    li      $a0, 1
    syscall
    lw      $s3, 0($s0)
    sw      $zero, 0($s0)
    lw      $t3, 0($s0)
    addu    $s3, $s3, $t3
    li      $v0, CALL_SPACE
    li      $a0, 0
    syscall
    lw      $t3, 0($s0)
    addu    $s3, $s3, $t3
    # Sums as they have to be: twice 1 to 64, 63 of the last round; 0xabcd, 0 and 1.
    li      $t0, DATA_PAGES * (DATA_PAGES + 1) + DATA_PAGES - 1
    subu    $a0, $s2, $t0
    li      $t0, 0xabcd + 1
    subu    $t1, $s3, $t0
    or      $a0, $a0, $t1
    li      $v0, CALL_EXIT
    syscall
