/* What an application on FreeRTOS has on a Cortex-M4: a task that waits for the clock, one that waits for a queue, one
 * that waits for an interrupt, and floating point in two tasks that take turns. */
#include "armv7m.h"
#include "console.h"
#include "exit.h"
#include "nvic.h"

#include <FreeRTOS.h>
#include <queue.h>
#include <semphr.h>
#include <task.h>

/* EXTI's first line, which nothing drives here: set pending by the program. */
#define INTERRUPT 6u
#define INTERRUPT_PRIORITY 6u

#define MESSAGES 10u
#define PERIOD_MS 5u
#define TERMS 64u

#define PRIORITY_LOW (tskIDLE_PRIORITY + 1u)
#define PRIORITY_MID (tskIDLE_PRIORITY + 2u)
#define PRIORITY_HIGH (tskIDLE_PRIORITY + 3u)

/* Entry of the vector table. */
void EXTI0_IRQHandler(void);

static QueueHandle_t queue;
static SemaphoreHandle_t interrupted;
static SemaphoreHandle_t summed;
static volatile uint32_t served;
static volatile float sums[2];

void EXTI0_IRQHandler(void)
{
    BaseType_t wanted = pdFALSE;

    (void)xSemaphoreGiveFromISR(interrupted, &wanted);
    portYIELD_FROM_ISR(wanted);
}

/* Sends a number each PERIOD_MS, and then makes an interrupt pending. */
static void send(void *unused)
{
    TickType_t last = xTaskGetTickCount();

    (void)unused;
    for (uint32_t number = 1; number <= MESSAGES; number++) {
        (void)xTaskDelayUntil(&last, pdMS_TO_TICKS(PERIOD_MS));
        (void)xQueueSend(queue, &number, portMAX_DELAY);
        mmio_write(ARMV7M_SCS_BASE, NVIC_ISPR, 1u << INTERRUPT);
    }
    vTaskSuspend(NULL);
}

static void serve(void *unused)
{
    (void)unused;
    for (;;) {
        (void)xSemaphoreTake(interrupted, portMAX_DELAY);
        served++;
    }
}

/* 1 + 1/2 + 1/4 ... or 1 + 1/3 + 1/9 ...: each yields to the other with a sum and a term in registers. */
static void sum_up(void *argument)
{
    uint32_t which = (uint32_t)(uintptr_t)argument;
    float ratio = which == 0 ? 0.5f : 1.0f / 3.0f;
    float term = 1.0f;
    float sum = 0.0f;

    for (uint32_t i = 0; i < TERMS; i++) {
        sum += term;
        term *= ratio;
        taskYIELD();
    }
    sums[which] = sum;
    (void)xSemaphoreGive(summed);
    vTaskSuspend(NULL);
}

static void receive(void *unused)
{
    uint32_t total = 0;
    TickType_t begun = xTaskGetTickCount();

    (void)unused;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint32_t number;
        (void)xQueueReceive(queue, &number, portMAX_DELAY);
        total += number;
    }
    (void)xSemaphoreTake(summed, portMAX_DELAY);
    (void)xSemaphoreTake(summed, portMAX_DELAY);
    uint32_t taken_ms = (uint32_t)(xTaskGetTickCount() - begun) * portTICK_PERIOD_MS;
    console_print("%u messages, sum %u, in %u ms; %u interrupts\n", MESSAGES, total, taken_ms, served);
    console_print("sums in thousandths: %u, %u\n", (uint32_t)(sums[0] * 1000.0f + 0.5f),
                  (uint32_t)(sums[1] * 1000.0f + 0.5f));
    program_exit(EXIT_OK);
}

static void make(TaskFunction_t task, const char *name, uint32_t argument, UBaseType_t priority)
{
    BaseType_t made = xTaskCreate(task, name, configMINIMAL_STACK_SIZE, (void *)(uintptr_t)argument, priority, NULL);
    configASSERT(made == pdPASS);
}

int main(void)
{
    console_print("FreeRTOS " tskKERNEL_VERSION_NUMBER " on " BOARD_NAME "\n");
    queue = xQueueCreate(MESSAGES, sizeof(uint32_t));
    interrupted = xSemaphoreCreateBinary();
    summed = xSemaphoreCreateCounting(2, 0);
    configASSERT(queue && interrupted && summed);
    make(send, "send", 0, PRIORITY_HIGH);
    make(serve, "serve", 0, PRIORITY_HIGH);
    make(receive, "receive", 0, PRIORITY_MID);
    make(sum_up, "halves", 0, PRIORITY_LOW);
    make(sum_up, "thirds", 1, PRIORITY_LOW);
    nvic_enable(INTERRUPT, INTERRUPT_PRIORITY);
    vTaskStartScheduler();
    return EXIT_FAILED;
}
