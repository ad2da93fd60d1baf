@ The exception vectors, and what reports an exception that nobody expects. A kernel defines arm_svc_entry and
@ arm_irq_entry; without one, both are reported as well.
    .syntax unified
    .arm

    .section .vectors, "ax"
    .balign 32
    .globl arm_vectors
arm_vectors:
    ldr     pc, reset_address
    ldr     pc, undefined_address
    ldr     pc, svc_address
    ldr     pc, prefetch_abort_address
    ldr     pc, data_abort_address
    nop
    ldr     pc, irq_address
    ldr     pc, fiq_address

reset_address:          .word _start
undefined_address:      .word undefined_entry
svc_address:            .word arm_svc_entry
prefetch_abort_address: .word prefetch_abort_entry
data_abort_address:     .word data_abort_entry
irq_address:            .word arm_irq_entry
fiq_address:            .word fiq_entry

@ Each gives abort_report the kind, the address of the instruction and the status register of the interrupted code: the
@ link register is ahead by the bytes of ARM ARM, table B1-7.
    .macro report name kind thumb_offset arm_offset
    .weak \name
\name:
    mrs     r2, spsr
    tst     r2, #0x20
    subne   r1, lr, #\thumb_offset
    subeq   r1, lr, #\arm_offset
    mov     r0, #\kind
    b       abort_report
    .endm

    .text
    report  undefined_entry 0 2 4
    report  arm_svc_entry 1 2 4
    report  prefetch_abort_entry 2 4 4
    report  data_abort_entry 3 8 8
    report  arm_irq_entry 4 4 4
    report  fiq_entry 5 4 4
