@ Unexpected exceptions: fault_report gets the frame that the core has stacked and EXC_RETURN.
    .syntax unified
    .thumb

    .section .text.fault_entry, "ax", %progbits
    .globl fault_entry
    .type fault_entry, %function
    .thumb_func
fault_entry:
    tst     lr, #4
    ite     eq
    mrseq   r0, msp
    mrsne   r0, psp
    mov     r1, lr
    b       fault_report
    .size fault_entry, . - fault_entry
