#include "cache.h"

#include "arm.h"

/* All lines of a range, one after the other; others see the effect from the barrier on. */
#define FOR_EACH_LINE(operation)                                                                    \
    do {                                                                                            \
        uint32_t end_ = (uint32_t)start + bytes;                                                    \
        for (uint32_t line_ = (uint32_t)start & ~(CACHE_LINE_BYTES - 1); line_ < end_; line_ += CACHE_LINE_BYTES) { \
            operation(line_);                                                                       \
        }                                                                                           \
        arm_dsb();                                                                                  \
    } while (0)

void cache_clean(const void *start, uint32_t bytes)
{
    FOR_EACH_LINE(arm_clean_data_line);
}

void cache_invalidate(const void *start, uint32_t bytes)
{
    FOR_EACH_LINE(arm_invalidate_data_line);
}

void cache_clean_and_invalidate(const void *start, uint32_t bytes)
{
    FOR_EACH_LINE(arm_clean_and_invalidate_data_line);
}
