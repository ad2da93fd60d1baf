@ FreeRTOS's port for Cortex-A and R cores without a GIC, and its entries in the vector table of runtime/arm/vectors.S.
@ It can save floating-point registers, for tasks that use any.
    .fpu    vfpv4-d16
#define configFPU_D32 0

    .globl  arm_svc_entry, arm_irq_entry
    .set    arm_svc_entry, FreeRTOS_SVC_Handler
    .set    arm_irq_entry, FreeRTOS_IRQ_Handler

#include <portASM.S>
