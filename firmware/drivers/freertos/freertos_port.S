@ FreeRTOS's port for Cortex-A and R cores without a GIC, and its entries in the vector table of runtime/arm/vectors.S.
@ It can save floating-point registers, for tasks that use any.
    .fpu    vfpv4-d16
#define configFPU_D32 0

    .globl  arm_svc_entry, arm_irq_entry
    .set    arm_irq_entry, FreeRTOS_IRQ_Handler

@ The port ends with .end, behind which an assembler reads no more: here it aligns.
#define end p2align 4
#include <portASM.S>
#undef end

@ A supervisor call yields, whatever its number. The port of FreeRTOS 11 reads the number out of the instruction first;
@ that of FreeRTOS 8 for Cortex-A5 without a GIC, which the published numbers are of, does not.
    .type   arm_svc_entry, %function
arm_svc_entry:
    portSAVE_CONTEXT
    LDR     R0, =vTaskSwitchContext
    BLX     R0
    portRESTORE_CONTEXT
