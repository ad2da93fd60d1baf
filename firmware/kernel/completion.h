/* Completions: one side waits until the other has done something, once for each time that it was done. */
#ifndef COMPLETION_H
#define COMPLETION_H

#include "wait.h"

struct completion {
    uint32_t done; /* completions that no thread has waited for yet */
    struct wait_queue_head queue;
};

/* Also forgets what was done. */
void completion_init(struct completion *completion);

/* Completes it: one waiting thread continues, or the next that waits. Threads and interrupt handlers may call it. */
void complete(struct completion *completion);

void wait_for_completion(struct completion *completion);

/* False if it was not done within `microseconds`. */
bool wait_for_completion_timeout(struct completion *completion, uint32_t microseconds);

#endif
