#include "board_support.h"

#include "armv7m.h"
#include "console.h"
#include "exit.h"

#include <FreeRTOS.h>
#include <task.h>

void vApplicationStackOverflowHook(TaskHandle_t task, char *name);
void vApplicationMallocFailedHook(void);

_Noreturn void freertos_assert_failed(const char *file, int line)
{
    armv7m_disable_interrupts();
    console_print("FreeRTOS: assertion failed: %s, line %d\n", file, line);
    program_exit(EXIT_FAILED);
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
    (void)task;
    armv7m_disable_interrupts();
    console_print("FreeRTOS: task %s needs a larger stack\n", name);
    program_exit(EXIT_FAILED);
}

void vApplicationMallocFailedHook(void)
{
    armv7m_disable_interrupts();
    console_print("FreeRTOS: the heap is too small\n");
    program_exit(EXIT_FAILED);
}
