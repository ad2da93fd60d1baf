/* Interrupt latency: from making an interrupt pending in the controller to the first instruction of its handler, as the
 * kernel calls it. Each has the timer started before and read in the handler; `loop` is what starting and reading take
 * by themselves, for all. */
#include "atmel_aic.h"
#include "board.h"
#include "measure.h"

#include "unoptimised.h"

/* Above the tick's. */
#define PRIORITY 5u

static volatile uint32_t ticks;
static volatile bool served;

static void handler(void)
{
    pins_handler(true);
    ticks = measure_end();
    served = true;
    pins_handler(false);
}

static uint32_t timer_ticks(void)
{
    uint32_t sum = 0;

    for (measure_count = 0; measure_count < APP_LOOPS; measure_count++) {
        measure_begin();
        sum += measure_end();
    }
    return sum;
}

static void task(void *unused)
{
    uint32_t sum = 0;

    (void)unused;
    for (measure_count = 0; measure_count < APP_LOOPS; measure_count++) {
        served = false;
        measure_begin();
        aic_set_pending(BOARD_ID_SOFTWARE_INTERRUPT);
        while (!served) {
        }
        sum += ticks;
    }
    measure_finish(sum);
}

void measure_interrupt_latency(void)
{
    aic_enable(BOARD_ID_SOFTWARE_INTERRUPT, PRIORITY, AIC_EDGE, handler);
    measured.loop = timer_ticks();
    measured.operations = APP_LOOPS;
    measure_create(task, "interrupted", PRIORITY_LOW);
    measure_wait();
}
