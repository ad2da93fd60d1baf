/* For a FreeRTOSConfig.h: what the kernel's port (portable/GCC/ARM_CM4F) needs on an STM32, whose interrupts have four
 * bits of priority. The kernel's own have the lowest; those that call it are not above 5. */
#ifndef FREERTOS_ARMV7M_PORT_CONFIG_H
#define FREERTOS_ARMV7M_PORT_CONFIG_H

#define configPRIO_BITS 4
#define configKERNEL_INTERRUPT_PRIORITY (15u << (8 - configPRIO_BITS))
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (5u << (8 - configPRIO_BITS))

/* The port's handlers in the vector table. */
#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler

#endif
