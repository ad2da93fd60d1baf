/* Interrupts: timers' and a pin's, masked, nested and in time. */
#include "irq.h"

#include "clock.h"
#include "completion.h"
#include "delay.h"
#include "error.h"
#include "expect.h"
#include "jz4740_gpio.h"
#include "timer.h"
#include "workqueue.h"

/* PD14, which nothing drives: its pull-up does. */
#define PORT 3u
#define PIN 14u

static struct thread waiter;
THREAD_STACK(waiter_stack, 4096);
static struct workqueue queue;
THREAD_STACK(queue_stack, 4096);

static struct completion done;
static struct work work;
static volatile uint32_t served;

static void complete_from_timer(void *arg)
{
    expect(in_interrupt(), "a timer's function runs in an interrupt");
    note(*(const char *)arg);
    complete(&done);
}

static void queue_from_timer(void *arg)
{
    (void)arg;
    note('t');
    queue_work(&queue, &work);
}

static void run_work(struct work *queued)
{
    (void)queued;
    expect(!in_interrupt(), "a work runs in a thread");
    note('w');
}

static void wait_and_note(void *arg)
{
    wait_for_completion(&done);
    note(*(const char *)arg);
}

static void start_in(struct timer *timer, timer_function *function, void *arg, uint32_t microseconds)
{
    timer_init(timer, function, arg);
    timer_start(timer, clock_ticks() + clock_ticks_of_us(microseconds));
}

/* The order of events with a waiter of this priority, while the program never yields. */
static void pre_empts(uint32_t priority, const char *expected)
{
    struct timer timer;

    completion_init(&done);
    thread_create(&waiter, "waiter", wait_and_note, "w", waiter_stack, sizeof waiter_stack, priority);
    msleep(1);
    start_in(&timer, complete_from_timer, "t", 200);
    note('b');
    udelay(1000);
    note('e');
    msleep(1);
    expect_events(expected);
}

static void from_interrupt_to_worker(void)
{
    struct timer timer;

    workqueue_init(&queue, "queue", queue_stack, sizeof queue_stack, PRIORITY_MAIN + 1);
    work_init(&work, run_work);
    msleep(1);
    start_in(&timer, queue_from_timer, 0, 200);
    note('b');
    udelay(1000);
    note('e');
    expect_events("btwe");
}

static void timers_in_order(void)
{
    struct timer a, b, c, d;

    start_in(&a, complete_from_timer, "a", 900);
    start_in(&b, complete_from_timer, "b", 300);
    start_in(&c, complete_from_timer, "c", 600);
    start_in(&d, complete_from_timer, "d", 450);
    timer_stop(&d);
    udelay(1500);
    expect_events("bca");
}

/* Kept out, an interrupt waits. */
static void kept_out(void)
{
    struct timer timer;
    uint32_t before = irq_save();

    start_in(&timer, complete_from_timer, "t", 100);
    udelay(300);
    note('o');
    irq_restore(before);
    note('i');
    expect_events("oti");
}

static void serve_pin(void *arg)
{
    (void)arg;
    note('p');
    if (++served >= 3) {
        disable_irq(irq_of_pin(PORT, PIN));
    }
}

/* A level interrupt comes again and again until someone sees to it, and not while it is disabled. */
static void pin(void)
{
    uint32_t irq = irq_of_pin(PORT, PIN);

    gpio_set_pull(GPIO_PIN_OF(PORT, PIN), true);
    irq_set_trigger(irq, IRQ_LEVEL_HIGH);
    note('b');
    expect(request_irq(irq, serve_pin, 0) == 0, "the pin's interrupt is free");
    expect(request_irq(irq, serve_pin, 0) == ERROR_BUSY, "now it is taken");
    note('e');
    expect_events("bpppe");
    disable_irq(irq);
    enable_irq(irq);
    expect_events("");
    served = 2;
    enable_irq(irq);
    expect_events("p");
    free_irq(irq);
    expect(request_irq(irq, serve_pin, 0) == 0, "it is free again");
    free_irq(irq);
}

static int program(void)
{
    pre_empts(PRIORITY_MAIN + 1, "btwe");
    pre_empts(PRIORITY_MAIN, "btew");
    pre_empts(PRIORITY_LOWEST, "btew");
    from_interrupt_to_worker();
    timers_in_order();
    kept_out();
    pin();
    console_print("interrupts: ok\n");
    return EXIT_OK;
}

int main(void)
{
    kernel_start(program);
}
