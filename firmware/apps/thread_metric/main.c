/* Thread-Metric (Express Logic; now part of Eclipse ThreadX, utility/benchmarks/thread_metric) on FreeRTOS, written
 * from the words in which its tests are defined: how many loops a test's threads make in a window. */
#include "console.h"
#include "exit.h"
#include "stm32l4_clocks.h"
#include "tests.h"

#include <FreeRTOS.h>
#include <task.h>

#if APP_ACCELERATORS_ALL
#define ACCELERATORS STM32L4_CACHES | STM32L4_PREFETCH
#elif APP_ACCELERATORS_CACHES
#define ACCELERATORS STM32L4_CACHES
#else
#define ACCELERATORS 0
#endif

/* Of the suite, as which the result is given, too. */
#define PUBLISHED_WINDOW_S 30u
/* Words: the console's formatting. */
#define CONTROL_STACK 400
/* The one that measures is above all tests. */
#define PRIORITY_CONTROL (configMAX_PRIORITIES - 1)

/* Which counters make a test's loops. All threads' are summed up, as in the suite; with interrupts it is those. */
enum loops { OF_THREADS, OF_INTERRUPTS };

static const struct test {
    const char *name;
    void (*begin)(void);
    int threads;
    enum loops loops;
} tests[] = {
#if APP_TEST_ALL || APP_TEST_BASIC
    {"basic", test_basic, 1, OF_THREADS},
#endif
#if APP_TEST_ALL || APP_TEST_COOPERATIVE
    {"cooperative", test_cooperative, 5, OF_THREADS},
#endif
#if APP_TEST_ALL || APP_TEST_PREEMPTIVE
    {"preemptive", test_preemptive, 5, OF_THREADS},
#endif
#if APP_TEST_ALL || APP_TEST_INTERRUPT
    {"interrupt", test_interrupt, 1, OF_INTERRUPTS},
#endif
#if APP_TEST_ALL || APP_TEST_INTERRUPT_PREEMPTION
    {"interrupt-preemption", test_interrupt_preemption, 2, OF_INTERRUPTS},
#endif
#if APP_TEST_ALL || APP_TEST_MESSAGE
    {"message", test_message, 1, OF_THREADS},
#endif
#if APP_TEST_ALL || APP_TEST_SYNCHRONIZATION
    {"synchronization", test_synchronization, 1, OF_THREADS},
#endif
#if APP_TEST_ALL || APP_TEST_MEMORY
    {"memory", test_memory, 1, OF_THREADS},
#endif
};

/* How far counters may be apart: each within one loop of the same value, as the suite has it. */
#define MOST_APART 2u

/* The loops in a window; the program ends if its counters are further apart. */
static uint32_t loops_of(const struct test *test, const struct window *window)
{
    uint32_t least = window->counts[0];
    uint32_t most = least;
    uint32_t sum = 0;

    for (int thread = 0; thread < test->threads; thread++) {
        uint32_t count = window->counts[thread];
        sum += count;
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    if (test->loops == OF_INTERRUPTS) {
        sum = window->interrupts;
        least = sum < least ? sum : least;
        most = sum > most ? sum : most;
    }
    if (most - least > MOST_APART || least == 0) {
        console_print("%s: counters from %u to %u\n", test->name, least, most);
        program_exit(EXIT_FAILED);
    }
    return sum;
}

/* Cycles a loop, with three decimal digits, rounded down, and the loops of the suite's window. */
static void report(const struct test *test, const struct window *window)
{
    uint32_t loops = loops_of(test, window);
    uint64_t thousandths = window->cycles * 1000ull / loops;
    uint64_t published = (uint64_t)configCPU_CLOCK_HZ * PUBLISHED_WINDOW_S * loops / window->cycles;

    console_print("{\"metric\":\"cycles\",\"test\":\"%s\",\"unit\":\"cycles\",\"value\":%llu.%03u}\n", test->name,
                  (unsigned long long)(thousandths / 1000u), (uint32_t)(thousandths % 1000u));
    console_print("{\"metric\":\"loops_in_30_s\",\"test\":\"%s\",\"unit\":\"loops\",\"value\":%llu}\n", test->name,
                  (unsigned long long)published);
    console_flush();
}

static void control(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        tests[i].begin();
        struct window window = window_measure();
        service_delete_all();
        report(&tests[i], &window);
    }
    program_exit(EXIT_OK);
}

int main(void)
{
    struct stm32_clocks clocks = stm32l4_clocks_80_mhz(APP_WAIT_STATES, ACCELERATORS);

    if (clocks.core_hz != configCPU_CLOCK_HZ) {
        console_print("the PLL never got ready\n");
        return EXIT_FAILED;
    }
    stm32_console_start(clocks.uart_hz);
    if (xTaskCreate(control, "control", CONTROL_STACK, NULL, PRIORITY_CONTROL, NULL) == pdPASS) {
        vTaskStartScheduler();
    }
    console_print("FreeRTOS: the heap is too small\n");
    return EXIT_FAILED;
}
