#include "services.h"

#include "armv7m.h"
#include "nvic.h"

#include <FreeRTOS.h>
#include <queue.h>
#include <semphr.h>
#include <task.h>

/* EXTI's first line, which nothing drives here: set pending by the program. */
#define INTERRUPT 6u
/* The highest that may call the kernel. */
#define INTERRUPT_PRIORITY 5u

/* Entry of the vector table. */
void EXTI0_IRQHandler(void);

static TaskHandle_t threads[SERVICES_THREADS];
static void (*bodies[SERVICES_THREADS])(void);
static QueueHandle_t queue;
static SemaphoreHandle_t semaphore;
static void (*interrupt_handler)(void);

static void enter(void *thread)
{
    bodies[(uintptr_t)thread]();
}

bool service_create(int thread, int priority, void (*body)(void))
{
    bodies[thread] = body;
    if (xTaskCreate(enter, "thread", configMINIMAL_STACK_SIZE, (void *)(uintptr_t)thread,
                    (UBaseType_t)(SERVICES_LOWEST - priority), &threads[thread]) != pdPASS) {
        return false;
    }
    /* FreeRTOS makes threads that are ready. The caller is above them. */
    vTaskSuspend(threads[thread]);
    return true;
}

bool service_resume(int thread)
{
    vTaskResume(threads[thread]);
    return true;
}

bool service_suspend(int thread)
{
    vTaskSuspend(threads[thread]);
    return true;
}

void service_relinquish(void)
{
    taskYIELD();
}

void service_delete_all(void)
{
    for (int thread = 0; thread < SERVICES_THREADS; thread++) {
        if (threads[thread]) {
            vTaskDelete(threads[thread]);
            threads[thread] = NULL;
        }
    }
}

bool service_make_queue(void)
{
    queue = xQueueCreate(1, SERVICES_MESSAGE_WORDS * sizeof(uint32_t));
    return queue != NULL;
}

bool service_send(const uint32_t *message)
{
    return xQueueSend(queue, message, portMAX_DELAY) == pdTRUE;
}

bool service_receive(uint32_t *message)
{
    return xQueueReceive(queue, message, portMAX_DELAY) == pdTRUE;
}

bool service_make_semaphore(void)
{
#if APP_SEMAPHORE_MUTEX
    semaphore = xSemaphoreCreateMutex();
    return semaphore != NULL;
#else
    semaphore = xSemaphoreCreateBinary();
    return semaphore != NULL && xSemaphoreGive(semaphore) == pdTRUE;
#endif
}

bool service_get(void)
{
    return xSemaphoreTake(semaphore, portMAX_DELAY) == pdTRUE;
}

bool service_put(void)
{
    return xSemaphoreGive(semaphore) == pdTRUE;
}

bool service_allocate(void **block)
{
    *block = pvPortMalloc(SERVICES_BLOCK_BYTES);
    return *block != NULL;
}

bool service_release(void *block)
{
    vPortFree(block);
    return true;
}

void EXTI0_IRQHandler(void)
{
    interrupt_handler();
}

void service_set_handler(void (*handler)(void))
{
    interrupt_handler = handler;
    nvic_enable(INTERRUPT, INTERRUPT_PRIORITY);
}

void service_cause_interrupt(void)
{
    mmio_write(ARMV7M_SCS_BASE, NVIC_ISPR, 1u << INTERRUPT);
    /* The interrupt is taken after these at the latest (DDI 0403E, B3.4, "visibility of pending interrupts"). */
    armv7m_dsb();
    __asm__ volatile("isb" : : : "memory");
}

void service_put_from_handler(void)
{
    BaseType_t wanted = pdFALSE;

    (void)xSemaphoreGiveFromISR(semaphore, &wanted);
    portYIELD_FROM_ISR(wanted);
}

void service_resume_from_handler(int thread)
{
    BaseType_t wanted = xTaskResumeFromISR(threads[thread]);

    portYIELD_FROM_ISR(wanted);
}
