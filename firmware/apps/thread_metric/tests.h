/* The tests of Thread-Metric, from their published definitions in words: each makes its threads, which run as soon as
 * the caller waits. The suite's priorities are kept: 10 is that of a test with one thread. */
#ifndef TESTS_H
#define TESTS_H

#include "window.h"

#include <stdint.h>

#define TESTS_PRIORITY 10

void test_basic(void);
void test_cooperative(void);
void test_preemptive(void);
void test_interrupt(void);
void test_interrupt_preemption(void);
void test_message(void);
void test_synchronization(void);
void test_memory(void);

#endif
