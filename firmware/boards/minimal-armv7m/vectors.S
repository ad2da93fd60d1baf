@ The vector table: exceptions of ARMv7-M, and the board's interrupts. What nobody defines is reported.
    .syntax unified
    .thumb

    .macro vector name
    .weak   \name
    .thumb_set \name, unexpected
    .word   \name
    .endm

    .section .text.unexpected, "ax", %progbits
    .type unexpected, %function
    .thumb_func
unexpected:
    b       fault_entry
    .size unexpected, . - unexpected

    .section .isr_vector, "a", %progbits
    .globl vector_table
vector_table:
    .word   __stack_top
    .word   Reset_Handler
    vector  NMI_Handler
    vector  HardFault_Handler
    vector  MemManage_Handler
    vector  BusFault_Handler
    vector  UsageFault_Handler
    .word   0, 0, 0, 0
    vector  SVC_Handler
    vector  DebugMon_Handler
    .word   0
    vector  PendSV_Handler
    vector  SysTick_Handler
    vector  Interrupt0_Handler
    vector  Interrupt1_Handler
    vector  Interrupt2_Handler
    vector  Interrupt3_Handler
    .rept   12
    .word   unexpected
    .endr
