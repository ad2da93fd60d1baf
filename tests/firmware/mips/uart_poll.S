# Prints a text through UART0 of a JZ4740 and waits for its end, in loops that count nothing; the start-up is the core's
# alone.

    .set noreorder
    .set mips32

    .equ UART_HIGH, 0xb003
    .equ UTHR, 0x00
    .equ UDLHR, 0x04
    .equ UFCR, 0x08
    .equ ULCR, 0x0c
    .equ ULSR, 0x14
    .equ ULSR_TDRQ, 1 << 5
    .equ ULSR_TEMP, 1 << 6

    .section .vectors, "ax", @progbits
    .globl _start
_start:
    mtc0    $zero, $12
    lui     $s0, UART_HIGH
    # 115200 baud of 12 MHz, 8 data bits, FIFO and UART on.
    li      $t0, 0x83
    sb      $t0, ULCR($s0)
    li      $t0, 7
    sb      $t0, UTHR($s0)
    sb      $zero, UDLHR($s0)
    li      $t0, 0x03
    sb      $t0, ULCR($s0)
    li      $t0, 0x17
    sb      $t0, UFCR($s0)
    la      $s1, text
1:  lbu     $t1, 0($s1)
    beqz    $t1, 3f
    addiu   $s1, $s1, 1
    # With the interrupt's mask changed and a word of memory written in each round, as a kernel's wait does.
2:  mfc0    $t2, $12
    ori     $t3, $t2, 1
    mtc0    $t3, $12
    sw      $t2, scratch
    mtc0    $t2, $12
    lbu     $t0, ULSR($s0)
    andi    $t0, $t0, ULSR_TDRQ
    beqz    $t0, 2b
    nop
    b       1b
    sb      $t1, UTHR($s0)
    # A call, and a multiplication whose result comes late.
3:  jal     empty
    li      $t4, 3
    beqz    $v0, 3b
    nop
    # UHI's exit.
    li      $t9, 1
    li      $a0, 0
    sdbbp   1

empty:
    lbu     $v0, ULSR($s0)
    andi    $v0, $v0, ULSR_TEMP
    jr      $ra
    mult    $t4, $t4

    .balign 64
text:
    .asciz  "rounds that are all the same\n"
    .balign 64
scratch:
    .word   0
