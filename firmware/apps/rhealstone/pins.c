#include "pins.h"

#include "atmel_pio4.h"
#include "atmel_pmc.h"
#include "atmel_tc.h"
#include "console.h"
#include "measure.h"

#define MEASURED (1u << 24)
#define TASK(place) (1u << (25 + (place)))
#define HANDLER (1u << 28)
#define TASKS 3

#if APP_PINS_ON
void pins_configure(uint32_t timer)
{
    pmc_enable_peripheral(BOARD_ID_PIO);
    pio_make_outputs(PIO_D, MEASURED, true);
    pio_make_outputs(PIO_D, TASK(0) | TASK(1) | TASK(2) | HANDLER, false);
    tc_configure(timer);
    /* With pins an operation takes longer: no result. */
    console_disable();
}

void pins_start(uint32_t timer)
{
    pio_set(PIO_D, MEASURED, false);
    tc_start(timer);
}

uint32_t pins_ticks(uint32_t timer)
{
    uint32_t ticks = tc_ticks(timer);

    pio_set(PIO_D, MEASURED, true);
    return ticks;
}

void pins_handler(bool runs)
{
    pio_set(PIO_D, HANDLER, runs);
}

void pins_task(const void *task, bool runs)
{
    int place = measure_place(task);

    if (place >= 0 && place < TASKS) {
        pio_set(PIO_D, TASK(place), runs);
    }
}
#endif
