#include "stopwatch.h"

#include "jz4740_tcu.h"

#define NS_A_SECOND 1000000000u

void stopwatch_start(struct stopwatch *watch)
{
    watch->started = tcu_stamp();
}

void stopwatch_stop(struct stopwatch *watch)
{
    watch->ticks += (uint16_t)(tcu_stamp() - watch->started);
}

uint64_t nanoseconds_each(uint64_t ticks, uint32_t count)
{
    uint64_t divisor = (uint64_t)count * TCU_TICKS_HZ;

    return (ticks * NS_A_SECOND + divisor / 2) / divisor;
}
