#include "board_support.h"

#include "arm.h"
#include "atmel_aic.h"
#include "atmel_pit.h"
#include "board.h"
#include "console.h"
#include "exit.h"
#include "mmio.h"

#include <FreeRTOS.h>
#include <task.h>

#include "unoptimised.h"

/* The middle of eight. */
#define TICK_PRIORITY 3u

void vApplicationIRQHandler(void);
void vApplicationStackOverflowHook(TaskHandle_t task, char *name);
void vApplicationMallocFailedHook(void);

/* heap_4.c takes tasks and queues from here. */
uint8_t ucHeap[configTOTAL_HEAP_SIZE] BOARD_NOINIT;

void freertos_start_tick(void)
{
    aic_enable(BOARD_ID_PIT, TICK_PRIORITY, AIC_LEVEL, FreeRTOS_Tick_Handler);
    pit_start(configTICK_RATE_HZ);
}

void freertos_stop_tick(void)
{
    pit_stop();
}

void freertos_clear_tick(void)
{
    pit_acknowledge();
}

/* The port calls this with interrupts off, and then writes AIC_EOICR. */
void vApplicationIRQHandler(void)
{
    aic_handler *handler = (aic_handler *)mmio_read(BOARD_AIC_BASE, AIC_IVR);

    /* In the controller's protect mode, which a debugger may have set, the write is what acknowledges; it does nothing
     * else. */
    mmio_write(BOARD_AIC_BASE, AIC_IVR, (uint32_t)handler);
    /* The controller lets only higher priorities through until AIC_EOICR is written. */
    arm_dsb();
    arm_isb();
    arm_enable_interrupts();
    handler();
}

_Noreturn void freertos_assert_failed(const char *file, int line)
{
    arm_disable_interrupts();
    console_print("FreeRTOS: assertion failed: %s, line %d\n", file, line);
    program_exit(EXIT_FAILED);
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
    (void)task;
    arm_disable_interrupts();
    console_print("FreeRTOS: task %s needs a larger stack\n", name);
    program_exit(EXIT_FAILED);
}

void vApplicationMallocFailedHook(void)
{
    arm_disable_interrupts();
    console_print("FreeRTOS: the heap is too small\n");
    program_exit(EXIT_FAILED);
}
