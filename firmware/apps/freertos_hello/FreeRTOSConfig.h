/* FreeRTOS with assertions and checks of stacks, and a tick of a millisecond. The options: www.freertos.org,
 * Customisation. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "board.h"
#include "board_support.h"
#include "port_config.h"

#include <stddef.h>
#include <stdint.h>

#define configCPU_CLOCK_HZ BOARD_CORE_HZ
#define configTICK_RATE_HZ ((TickType_t)1000)
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_PREEMPTION 1
#define configUSE_TICKLESS_IDLE 0
#define configMAX_PRIORITIES 5
#define configMAX_TASK_NAME_LEN 16
#define configSTACK_DEPTH_TYPE uint32_t
/* In words; with room for floating-point registers. */
#define configMINIMAL_STACK_SIZE 256
#define configTOTAL_HEAP_SIZE ((size_t)(16 * 1024))
#define configSUPPORT_STATIC_ALLOCATION 0
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configUSE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
#define configUSE_TIMERS 0
#define configUSE_CO_ROUTINES 0
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_MALLOC_FAILED_HOOK 1
#define configCHECK_FOR_STACK_OVERFLOW 2
#define configASSERT(condition)                     \
    if (!(condition)) {                             \
        freertos_assert_failed(__FILE__, __LINE__); \
    }

#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1

#endif
