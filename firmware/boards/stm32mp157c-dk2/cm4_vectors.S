@ The M4's vector table: exceptions of ARMv7-M, and interrupts of the STM32MP157 (RM0436, NVIC vector table) by the names that drivers define. What
@ nobody defines is reported.
    .syntax unified
    .thumb

    .macro vector name
    .weak   \name
    .thumb_set \name, unexpected
    .word   \name
    .endm

    .macro vectors count
    .rept   \count
    .word   unexpected
    .endr
    .endm

    .section .text.unexpected, "ax", %progbits
    .type unexpected, %function
    .thumb_func
unexpected:
    b       fault_entry
    .size unexpected, . - unexpected

    .section .isr_vector, "a", %progbits
    .globl cm4_vectors
cm4_vectors:
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
    @ 0
    vectors 52
    vector  UART4_IRQHandler
    @ 53
    vectors 29
    vector  UART7_IRQHandler
    @ 83
    vectors 20
    vector  IPCC_RX1_IRQHandler
    vector  IPCC_TX1_IRQHandler
    @ 105
    vectors 17
    vector  MDMA_IRQHandler
    @ 123 to 149
    vectors 27
