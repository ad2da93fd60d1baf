/* The port's own portmacro.h, with interrupts, yields and the search for the highest priority in line. So FreeRTOS 8's
 * port for Cortex-A5 without a GIC has them (portable/IAR/ARM_CA5_No_GIC), where the port that is used here calls
 * functions: a call costs more than what it does. */
#ifndef FREERTOS_PORTMACRO_H
#define FREERTOS_PORTMACRO_H

#include_next <portmacro.h>

#undef portYIELD
#undef portDISABLE_INTERRUPTS
#undef portENABLE_INTERRUPTS
#undef portGET_HIGHEST_PRIORITY

#define portYIELD() __asm volatile("svc 0\n\tisb" ::: "memory")
#define portDISABLE_INTERRUPTS() __asm volatile("cpsid i\n\tdsb\n\tisb" ::: "memory")
#define portENABLE_INTERRUPTS() __asm volatile("cpsie i" ::: "memory")
#define portGET_HIGHEST_PRIORITY(priority, ready) (priority) = (UBaseType_t)(31 - __builtin_clz(ready))

#endif
