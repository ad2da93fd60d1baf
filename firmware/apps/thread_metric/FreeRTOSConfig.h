/* FreeRTOS as its own defaults have it where Thread-Metric says nothing; without assertions and checks of stacks unless
 * they are asked for. The meaning of the options: www.freertos.org, Customisation. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "board.h"
#include "board_support.h"
#include "port_config.h"

#include <stddef.h>
#include <stdint.h>

#define configCPU_CLOCK_HZ 80000000u
#define configTICK_RATE_HZ ((TickType_t)APP_TICK_HZ)
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_PREEMPTION 1
/* A tick that switches threads would take a round from one: the rules want all counters to be equal. */
#define configUSE_TIME_SLICING 0
#if APP_SELECTION_PORT
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#else
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0
#endif
#define configUSE_TICKLESS_IDLE 0
/* The suite's priorities are 1 to 16. */
#define configMAX_PRIORITIES 17
#define configMAX_TASK_NAME_LEN 16
#define configSTACK_DEPTH_TYPE uint32_t
/* In words. */
#define configMINIMAL_STACK_SIZE 128
#define configTOTAL_HEAP_SIZE ((size_t)(16 * 1024))
#define configSUPPORT_STATIC_ALLOCATION 0
#define configSUPPORT_DYNAMIC_ALLOCATION 1

#define configUSE_MUTEXES 1
#define configUSE_TASK_NOTIFICATIONS 1
#if APP_FACILITIES_ON
#define configUSE_QUEUE_SETS 1
#define configUSE_TRACE_FACILITY 1
#else
#define configUSE_QUEUE_SETS 0
#define configUSE_TRACE_FACILITY 0
#endif
#define configUSE_TIMERS 0
#define configUSE_CO_ROUTINES 0
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0

#if APP_PROTECTIONS_ON
#define configCHECK_FOR_STACK_OVERFLOW 2
#define configASSERT(condition)                     \
    if (!(condition)) {                             \
        freertos_assert_failed(__FILE__, __LINE__); \
    }
#else
#define configCHECK_FOR_STACK_OVERFLOW 0
#endif
#define configUSE_MALLOC_FAILED_HOOK 1

#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskResumeFromISR 1
#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1

#endif
