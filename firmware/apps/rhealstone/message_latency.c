/* Inter-task message: a task sends 16 bytes through a queue of one entry to a task of higher priority that waits for
 * them. `overhead` is receiving a message that is there already, once. */
#include "measure.h"

#include <queue.h>

#include "unoptimised.h"

#define MESSAGE_WORDS 4

/* As with pre-emptions: N turns are N - 1 messages; a single turn is one. */
#define OPERATIONS (APP_LOOPS > 1 ? APP_LOOPS - 1 : 1)

static QueueHandle_t queue;

static void receiver(void *unused)
{
    uint32_t message[MESSAGE_WORDS];

    (void)unused;
    measure_begin();
    xQueueReceive(queue, message, portMAX_DELAY);
    measured.overhead = measure_end();

    measure_begin();
    for (measure_count = 0; measure_count < OPERATIONS; measure_count++) {
        xQueueReceive(queue, message, portMAX_DELAY);
    }
    measure_finish(measure_end());
}

static void sender(void *unused)
{
    static const uint32_t message[MESSAGE_WORDS] = {1, 2, 3, 4};

    (void)unused;
    xQueueSend(queue, message, portMAX_DELAY);
    measure_create(receiver, "receiver", PRIORITY_HIGH);
    for (;;) {
        /* The receiver takes over in each call, and ends the measurement. */
        xQueueSend(queue, message, portMAX_DELAY);
    }
}

void measure_message_latency(void)
{
    queue = xQueueCreate(1, sizeof(uint32_t[MESSAGE_WORDS]));
    configASSERT(queue);
    measured.loop = measure_empty_loop(OPERATIONS);
    measured.operations = OPERATIONS;
    measure_create(sender, "sender", PRIORITY_LOW);
    measure_wait();
    vQueueDelete(queue);
}
