@ Interrupts: arm_handle_irq runs in supervisor mode on the stack of what was interrupted, with interrupts off; it is
@ the interrupt controller's.
    .syntax unified
    .arm

    .set MODE_SVC, 0x13

    .text
    .globl arm_irq_entry
arm_irq_entry:
    sub     lr, lr, #4
    srsdb   sp!, #MODE_SVC
    cps     #MODE_SVC
    push    {r0-r3, r12, lr}
    @ The stack may be aligned to 4 only (AAPCS 6.2.1.2).
    and     r1, sp, #4
    sub     sp, sp, r1
    push    {r1, r2}
    bl      arm_handle_irq
    pop     {r1, r2}
    add     sp, sp, r1
    pop     {r0-r3, r12, lr}
    rfeia   sp!
