/* FreeRTOS as its own demonstration for Atmel's Cortex-A5 boards is configured
 * (FreeRTOS/Demo/CORTEX_A5_SAMA5D3x_Xplained_IAR), as far as what that runs is here: no hooks, no co-routines. What an
 * option means: www.freertos.org, Customisation. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "atmel_aic.h"
#include "board.h"

#include <stdbool.h>
#include <stdint.h>

#define configCPU_CLOCK_HZ BOARD_CORE_HZ
#define configTICK_RATE_HZ ((TickType_t)1000)
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configUSE_TICKLESS_IDLE 0
#define configIDLE_SHOULD_YIELD 1
#define configMAX_PRIORITIES 5
#define configMAX_TASK_NAME_LEN 10
#define configSTACK_DEPTH_TYPE uint32_t
/* In words. At -O0, frames are large. */
#define configMINIMAL_STACK_SIZE 200
#define configTOTAL_HEAP_SIZE ((size_t)(24 * 1024))
#define configAPPLICATION_ALLOCATED_HEAP 1
#define configSUPPORT_STATIC_ALLOCATION 0
#define configSUPPORT_DYNAMIC_ALLOCATION 1

#define configUSE_MUTEXES 1
#define configUSE_RECURSIVE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
#define configQUEUE_REGISTRY_SIZE 8
/* FreeRTOS 8 has them, but a task that is suspended or resumed is not looked at for them, as it is in FreeRTOS 11. */
#define configUSE_TASK_NOTIFICATIONS 0
#define configUSE_TRACE_FACILITY 1
#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY (configMAX_PRIORITIES - 1)
#define configTIMER_QUEUE_LENGTH 5
#define configTIMER_TASK_STACK_DEPTH configMINIMAL_STACK_SIZE
#define configUSE_CO_ROUTINES 0
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0

#define configCHECK_FOR_STACK_OVERFLOW APP_STACK_CHECK
#define configUSE_MALLOC_FAILED_HOOK 1

#define INCLUDE_vTaskPrioritySet 1
#define INCLUDE_uxTaskPriorityGet 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_vTaskDelay 1
#define INCLUDE_eTaskGetState 1
#define INCLUDE_xTimerPendFunctionCall 1

#if APP_RUN_TIME_STATS_ON
/* The demonstration counts in an interrupt at 20 kHz, which the full one of its two variants has; nothing counts
 * here. */
#define configGENERATE_RUN_TIME_STATS 1
extern volatile uint32_t run_time_count;
#define portCONFIGURE_TIMER_FOR_RUN_TIME_STATS()
#define portGET_RUN_TIME_COUNTER_VALUE() run_time_count
#endif

#if APP_PINS_ON
void pins_task(const void *task, bool runs);
#define traceTASK_SWITCHED_OUT() pins_task(pxCurrentTCB, false)
#define traceTASK_SWITCHED_IN() pins_task(pxCurrentTCB, true)
#endif

/* 1: a task has floating-point registers of its own if it says so; 2: each has, and a switch saves and restores
 * them. */
#if APP_FPU_CONTEXT_ON
#define configUSE_TASK_FPU_SUPPORT 2
#else
#define configUSE_TASK_FPU_SUPPORT 1
#endif
#define configFPU_D32 0

/* The value that the port's interrupt handler writes at the end of an interrupt. */
#define configEOI_ADDRESS (BOARD_AIC_BASE + AIC_EOICR)

void freertos_start_tick(void);
void freertos_clear_tick(void);
#define configSETUP_TICK_INTERRUPT() freertos_start_tick()
#define configCLEAR_TICK_INTERRUPT() freertos_clear_tick()

/* Prints where, and ends the program. */
_Noreturn void freertos_assert_failed(const char *file, int line);
#if APP_ASSERTS_ON
#define configASSERT(condition)                       \
    if (!(condition)) {                               \
        freertos_assert_failed(__FILE__, __LINE__);   \
    }
#else
#define configASSERT(condition) ((void)(condition))
#endif

#endif
